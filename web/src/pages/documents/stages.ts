import type { Document } from "./useDocuments";

export const STAGES = ["chunks", "extracted", "merged", "embedded", "indexed"] as const;
export type Stage = (typeof STAGES)[number];

const numberIn = (document: Document, name: string) => Number(document.metadata[name] ?? 0);

/** How many chunks a stage has done, of how many. Cutting has none to count: it is done or not. */
export function progress(document: Document, stage: Stage): { done: number; all: number } {
  const all = numberIn(document, "chunks");
  return stage === "chunks" ? { done: all > 0 ? 1 : 0, all: 1 } : { done: numberIn(document, stage), all };
}
