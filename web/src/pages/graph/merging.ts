interface Part {
  nodes: { [key: string]: unknown }[];
  edges: { [key: string]: unknown }[];
  is_truncated?: boolean;
}

export interface MergePreview {
  /** Sentences of the two, each once. */
  sentences: string[];
  type: string;
  /** Relations that move to the other, those that both have already, and the one between them, which goes. */
  moved: number;
  shared: number;
  between: number;
  /** Whether there are more relations than were read. */
  isCut: boolean;
}

const SEPARATOR = "<SEP>";
const said = (part: Part, name: string, field: string) => {
  const node = part.nodes.find(({ id }) => id === name);
  const value = ((node?.properties ?? {}) as Record<string, unknown>)[field];
  return typeof value === "string" ? value : "";
};

function neighbours(part: Part, name: string): Set<string> {
  const pairs = part.edges.map(({ source, target }) => [String(source), String(target)] as const);
  return new Set(pairs.flatMap(([source, target]) => (source === name ? [target] : target === name ? [source] : [])));
}

/** What merging one entity into another would make of both, from the parts of the graph around them. */
export function mergePreview(one: string, around: Part, other: string, aroundOther: Part): MergePreview {
  const [mine, theirs] = [neighbours(around, one), neighbours(aroundOther, other)];
  const between = mine.delete(other) || theirs.delete(one) ? 1 : 0;
  const shared = [...mine].filter((name) => theirs.has(name)).length;
  const sentences = [said(aroundOther, other, "description"), said(around, one, "description")].flatMap((words) => words.split(SEPARATOR));
  return {
    sentences: [...new Set(sentences)].filter(Boolean),
    type: said(aroundOther, other, "entity_type"),
    moved: mine.size - shared,
    shared,
    between,
    isCut: Boolean(around.is_truncated || aroundOther.is_truncated),
  };
}
