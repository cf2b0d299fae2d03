import type { DrawnGraph } from "./useSubgraph";

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text as XML has it. Characters that XML 1.0 cannot hold at all are left out. */
function xml(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "").replace(/[&<>"]/g, (letter) => ESCAPES[letter] ?? letter);
}

const NODE_FIELDS = ["type", "description"] as const;
const EDGE_FIELDS = ["keywords", "description"] as const;

function data(fields: readonly string[], facts: object): string {
  return fields.map((name) => `<data key="${name}">${xml(String((facts as Record<string, unknown>)[name] ?? ""))}</data>`).join("");
}

/** What is shown, as GraphML: for Gephi, yEd, networkx and others. */
export function asGraphML(graph: DrawnGraph): string {
  const keys = [
    '<key id="type" for="node" attr.name="type" attr.type="string"/>',
    '<key id="description" for="all" attr.name="description" attr.type="string"/>',
    '<key id="keywords" for="edge" attr.name="keywords" attr.type="string"/>',
    '<key id="weight" for="edge" attr.name="weight" attr.type="double"/>',
  ];
  const nodes = graph.mapNodes((name, { facts }) => `<node id="${xml(name)}">${data(NODE_FIELDS, facts)}</node>`);
  const edges = graph.mapEdges(
    (_, { facts }, source, target) =>
      `<edge source="${xml(source)}" target="${xml(target)}"><data key="weight">${facts.weight}</data>${data(EDGE_FIELDS, facts)}</edge>`,
  );
  const lines = ['<graph edgedefault="undirected">', ...nodes, ...edges, "</graph>"];
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">', ...keys, ...lines, "</graphml>", ""].join("\n");
}

/** What is shown, as JSON: entities and relations with what is said of them and the chunks they rest on. */
export function asJSON(graph: DrawnGraph): string {
  const entities = graph.mapNodes((_, { facts }) => facts);
  const relations = graph.mapEdges((_, { facts }) => facts);
  return `${JSON.stringify({ entities, relations }, null, 2)}\n`;
}

/** Has the browser keep a file. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
