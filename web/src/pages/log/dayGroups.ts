import type { LogEvent } from "../../api/live";
import type { Type } from "./filters";

/** Events that somebody caused; all others a service made of them. */
export const CHANGES = ["DocumentAdded", "DocumentDeleted", "DocumentCancelled", "AccessChanged", "SupersessionStated", "TagsChanged", "GraphEdited", "BudgetSet", "ErasureRequested", "DocumentErased"] as const satisfies readonly Type[];

export interface Day {
  /** Its first moment, in milliseconds. */
  start: number;
  /** The newest first. */
  events: LogEvent[];
}

/** Events by the days on which they were, both the newest first. */
export function byDay(events: readonly LogEvent[]): Day[] {
  const days = new Map<number, LogEvent[]>();
  for (const event of [...events].sort((one, other) => other.sequence - one.sequence)) {
    const start = new Date(event.time).setHours(0, 0, 0, 0);
    days.set(start, [...(days.get(start) ?? []), event]);
  }
  return [...days].sort(([one], [other]) => other - one).map(([start, of]) => ({ start, events: of }));
}

/** Sequences of the additions that gave a document a new text, as far as an earlier one is among these events. */
export function newTexts(events: readonly LogEvent[]): ReadonlySet<number> {
  const found = new Set<number>();
  const isThere = new Map<string, boolean>();
  for (const { type, document, sequence } of [...events].sort((one, other) => one.sequence - other.sequence)) {
    if (type === "DocumentAdded" && isThere.get(document)) found.add(sequence);
    if (type === "DocumentAdded" || type === "DocumentDeleted") isThere.set(document, type === "DocumentAdded");
  }
  return found;
}
