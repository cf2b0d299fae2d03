import type { LogEvent } from "../../api/live";
import type { paths } from "../../api/schema";

/** The types of events that the server knows. */
export type Type = NonNullable<NonNullable<paths["/events"]["get"]["parameters"]["query"]>["type"]>[number];

/** All of them, in the order of a document's life: one that is missing or unknown here does not compile. */
const EVERY = {
  DocumentAdded: true,
  ChunksCreated: true,
  FiguresListed: true,
  FigureDescribed: true,
  EntitiesExtracted: true,
  GraphMerged: true,
  VectorsIndexed: true,
  DescriptionSummarized: true,
  DocumentDeleted: true,
  DocumentCancelled: true,
  AccessChanged: true,
  SupersessionStated: true,
  TagsChanged: true,
  GraphEdited: true,
  RetryRequested: true,
  StageFailed: true,
  BudgetSet: true,
  BranchCreated: true,
  BranchDropped: true,
  BranchPromoted: true,
  EmbeddingModelChosen: true,
  ErasureRequested: true,
  DocumentErased: true,
} satisfies Record<Type, true>;
export const TYPES = Object.keys(EVERY) as Type[];

/** The stages of the pipeline, each with the events that it writes. A failure names its stage itself. */
export const STAGES = {
  chunker: ["ChunksCreated", "FiguresListed", "FigureDescribed"],
  extractor: ["EntitiesExtracted"],
  merger: ["GraphMerged", "DescriptionSummarized"],
  indexer: ["VectorsIndexed"],
} as const satisfies Record<string, readonly Type[]>;
export type Stage = keyof typeof STAGES;

export interface Filter {
  type: Type | "all";
  stage: Stage | "all";
  /** The document's id; "" for all. */
  document: string;
}

/** The types that the server is asked for; none for all of them. */
export function typesOf({ type, stage }: Filter): Type[] {
  const ofStage: Type[] = stage === "all" ? [] : [...STAGES[stage], "StageFailed", "RetryRequested"];
  if (type === "all") return ofStage;
  return [type];
}

/** Whether an event is one of those looked for. What failed or is tried again belongs to the stage that it names. */
export function admits({ type, stage, document }: Filter, event: LogEvent): boolean {
  if (type !== "all" && event.type !== type) return false;
  if (document && event.document !== document) return false;
  return stage === "all" || event.stage === stage || STAGES[stage].some((one) => one === event.type);
}
