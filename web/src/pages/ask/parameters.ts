import { type DocumentFilter, ofFilter, toFilter } from "./documentFilter";
import type { Question } from "./stream";

export const MODES = ["auto", "mix", "walk", "hybrid", "local", "global", "naive", "bypass"] as const;
export const EFFORTS = ["low", "medium", "high"] as const;

export interface Parameters extends DocumentFilter {
  /** "" for the mode that the server has for questions without one. */
  mode: (typeof MODES)[number] | "";
  /** Another mode to ask as well, beside it; "" for none. */
  compare: (typeof MODES)[number] | "";
  effort: (typeof EFFORTS)[number];
  top_k: string;
  chunk_top_k: string;
  max_entity_tokens: string;
  max_relation_tokens: string;
  max_total_tokens: string;
  response_type: string;
  user_prompt: string;
}

export const DEFAULTS: Parameters = { mode: "", compare: "", effort: "low", top_k: "", chunk_top_k: "", max_entity_tokens: "", max_relation_tokens: "", max_total_tokens: "", response_type: "", user_prompt: "", documents: "", tags: "", from: "", until: "" };

/** The parameters that an address holds, as far as they are any. */
export function fromAddress(params: URLSearchParams): Parameters {
  const given = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS) as (keyof Parameters)[]) {
    const value = params.get(name);
    if (value !== null) Object.assign(given, { [name]: value });
  }
  if (given.mode && !MODES.includes(given.mode)) given.mode = DEFAULTS.mode;
  if (given.compare && (!MODES.includes(given.compare) || given.compare === given.mode)) given.compare = DEFAULTS.compare;
  if (!EFFORTS.includes(given.effort)) given.effort = DEFAULTS.effort;
  return given;
}

/** The question with its parameters; what was left empty is the server's to choose. */
export function toQuestion(query: string, given: Parameters): Question {
  const number = (text: string) => (Number(text) > 0 ? Number(text) : undefined);
  const all = {
    mode: given.mode || undefined,
    effort: given.effort,
    top_k: number(given.top_k),
    chunk_top_k: number(given.chunk_top_k),
    max_entity_tokens: number(given.max_entity_tokens),
    max_relation_tokens: number(given.max_relation_tokens),
    max_total_tokens: number(given.max_total_tokens),
    response_type: given.response_type.trim() || undefined,
    user_prompt: given.user_prompt.trim() || undefined,
    filter: toFilter(given),
  };
  return { query, ...Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) };
}

/** An address that leads to the page with this question. It stands behind the `#`, so no server sees it. */
export function address(workspace: string, question: Question): string {
  const { query, filter, ...rest } = question;
  const given = Object.entries({ ...rest, ...ofFilter(filter) }).filter(([name, value]) => name in DEFAULTS && value !== "");
  const values = new URLSearchParams({ q: query, ...Object.fromEntries(given.map(([name, value]) => [name, String(value)])) });
  return `${location.href.split("#")[0]}#/${workspace}/ask?${values}`;
}
