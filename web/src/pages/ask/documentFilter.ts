import type { Question } from "./stream";

/** Which documents a question is about, as an address and a form hold it; "" for all. */
export interface DocumentFilter {
  /** Ids, separated by commas. */
  documents: string;
  /** Tags, separated by commas. */
  tags: string;
  /** The first and the last day on which a document was added, as `2026-03-01`. */
  from: string;
  until: string;
}

type Filter = NonNullable<Question["filter"]>;

export const listOf = (text: string) => text.split(",").map((part) => part.trim()).filter(Boolean);

/** The beginning of a day, or of one of those after it, in the time of this browser. */
function beginning(day: string, later = 0): string | undefined {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  const moment = new Date(year, month - 1, date + later);
  return /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(moment.getTime()) ? moment.toISOString() : undefined;
}

/** The filter that the server takes; undefined for all documents. */
export function toFilter({ documents, tags, from, until }: DocumentFilter): Filter | undefined {
  const all = {
    document_ids: listOf(documents),
    tags: listOf(tags),
    added_from: beginning(from),
    added_before: beginning(until, 1),
  };
  const given = Object.entries(all).filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value !== undefined));
  return given.length > 0 ? (Object.fromEntries(given) as unknown as Filter) : undefined;
}

/** The day, so many days after the one on which a moment is. */
function dayOf(moment: string | null | undefined, later = 0): string {
  if (!moment) return "";
  const day = new Date(moment);
  day.setDate(day.getDate() + later);
  const two = (part: number) => String(part).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/** What a question's filter was made of. */
export function ofFilter(filter: Question["filter"]): DocumentFilter {
  return {
    documents: (filter?.document_ids ?? []).join(","),
    tags: (filter?.tags ?? []).join(","),
    from: dayOf(filter?.added_from),
    until: dayOf(filter?.added_before, -1),
  };
}
