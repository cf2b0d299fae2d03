import { type Change, type Changes, edgeKey } from "./changes";
import type { EdgeFacts, NodeFacts } from "./useSubgraph";

/** What is picked out of the graph, and what is left out. */
export interface View {
  selected: string;
  hiddenTypes: ReadonlySet<string>;
  /** Only what this document says; "" for all. */
  file: string;
  changes: Changes | undefined;
  /** Entities of a walk, one after the other. */
  hops: readonly string[];
}

export const isHidden = (facts: NodeFacts, { hiddenTypes, file }: View) => hiddenTypes.has(facts.type) || (file !== "" && !facts.files.includes(file));

/** Whether a document filter leaves a relation out: both its ends may be of the document, but not it. */
export const isEdgeHidden = (facts: EdgeFacts, { file }: View) => file !== "" && !facts.files.includes(file);

/** Whether a relation is a step of the walk. */
export function isHop({ source, target }: EdgeFacts, hops: readonly string[]): boolean {
  return hops.some((name, index) => index > 0 && edgeKey(name, hops[index - 1] ?? "") === edgeKey(source, target));
}

export type Emphasis = Change | "near" | "hop" | "far" | "plain";

/** How much an entity stands out. Differences go before a walk, a walk before what is selected. */
export function nodeEmphasis(name: string, isNear: boolean, { changes, hops, selected }: View): Emphasis {
  if (changes) return changes.nodes.get(name) ?? "far";
  if (hops.length > 0) return hops.includes(name) ? "hop" : "far";
  if (selected) return isNear ? "near" : "far";
  return "plain";
}

export function edgeEmphasis(facts: EdgeFacts, isNear: boolean, { changes, hops, selected }: View): Emphasis {
  if (changes) return changes.edges.get(edgeKey(facts.source, facts.target)) ?? "far";
  if (hops.length > 0) return isHop(facts, hops) ? "hop" : "far";
  if (selected) return isNear ? "near" : "far";
  return "plain";
}
