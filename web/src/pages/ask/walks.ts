import type { Question } from "./stream";

export interface Walk {
  entities: string[];
  chunks: string[];
}

/** The walks that retrieval tells of, the best first: each from entity to entity. */
export function walksOf(info: unknown): Walk[] {
  const paths = (info as { paths?: unknown } | undefined)?.paths;
  return Array.isArray(paths) ? (paths as Walk[]).filter(({ entities }) => Array.isArray(entities) && entities.length > 1) : [];
}

/** The address of the graph with a walk drawn in it. */
export const walkAddress = (workspace: string, { entities }: Walk) => `/${workspace}/graph?${new URLSearchParams(entities.map((name) => ["hop", name]))}`;

/** The same question asked another way, or the question as it is. */
export const inMode = (question: Question, mode: string): Question => (mode ? { ...question, mode: mode as NonNullable<Question["mode"]> } : question);
