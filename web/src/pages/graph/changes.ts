import type { Schemas } from "../../api/client";

export type Change = "appeared" | "changed" | "gone";
type Diff = Pick<Schemas["DiffResponse"], "entities" | "relations">;

/** What differs between two places of the log, by the names of entities and by the ends of relations. */
export interface Changes {
  nodes: ReadonlyMap<string, Change>;
  edges: ReadonlyMap<string, Change>;
}

export const edgeKey = (one: string, other: string) => [one, other].sort().join("\n");

export function changesOf(diff: Diff): Changes {
  return {
    nodes: new Map(diff.entities.map(({ name, change }) => [name, change])),
    edges: new Map(diff.relations.map(({ source, target, change }) => [edgeKey(source, target), change])),
  };
}

const text = (value: unknown) => (typeof value === "string" ? value : "");

/** What is of one place only, in the shape of the route of the graph, so that it can be drawn beside what there is. */
export function partOf(diff: Diff) {
  const field = (fields: Schemas["EntityDifference"]["fields"], name: string) => text(fields[name]?.after ?? fields[name]?.before);
  const nodes = diff.entities.map(({ name, fields }) => ({
    id: name,
    properties: { entity_type: field(fields, "type"), description: field(fields, "description") },
  }));
  const edges = diff.relations.map(({ source, target, fields }) => ({
    source,
    target,
    properties: { description: field(fields, "description"), keywords: field(fields, "keywords") },
  }));
  return { nodes, edges, is_truncated: false };
}
