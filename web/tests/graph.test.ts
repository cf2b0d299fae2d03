import Graph from "graphology";
import { expect, test } from "vitest";
import { changesOf, edgeKey, partOf } from "../src/pages/graph/changes";
import { asGraphML, asJSON } from "../src/pages/graph/exports";
import { mergePreview } from "../src/pages/graph/merging";
import { free } from "../src/pages/graph/sight";
import type { DrawnGraph } from "../src/pages/graph/useSubgraph";

const HOSTILE = '<script>alert("&")</script>';

function drawn(): DrawnGraph {
  const graph = new Graph({ type: "undirected" }) as DrawnGraph;
  const place = { x: 0, y: 0, size: 1, color: "#000" };
  const facts = { type: "person", description: "one\u0000<SEP>two", sources: ["doc-1-chunk-000"], files: ["a.md"] };
  graph.addNode(HOSTILE, { ...place, label: HOSTILE, facts: { name: HOSTILE, ...facts } });
  graph.addNode("B", { ...place, label: "B", facts: { name: "B", ...facts } });
  const edge = { source: HOSTILE, target: "B", keywords: "k", description: "d", weight: 2, sources: [], files: [] };
  graph.addEdge(HOSTILE, "B", { size: 1, facts: edge });
  return graph;
}

test("GraphML holds names and texts as text, and nothing that XML cannot", () => {
  const written = asGraphML(drawn());
  expect(written).toContain('<node id="&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;">');
  expect(written).toContain('<data key="weight">2</data>');
  expect(written).not.toContain("<script>");
  expect(written).not.toContain("\u0000");
});

test("JSON holds what is said and what it rests on", () => {
  const { entities, relations } = JSON.parse(asJSON(drawn())) as { entities: { name: string; sources: string[] }[]; relations: { target: string }[] };
  expect(entities.map(({ name }) => name)).toEqual([HOSTILE, "B"]);
  expect(entities[0]?.sources).toEqual(["doc-1-chunk-000"]);
  expect(relations.map(({ target }) => target)).toEqual(["B"]);
});

const around = (name: string, others: string[], description = "", type = "") => ({
  nodes: [{ id: name, properties: { description, entity_type: type } }],
  edges: others.map((other) => ({ source: other, target: name })),
});

test("a merge is told before it is made: what moves, what both have, what goes", () => {
  const one = around("WHO", ["Geneva", "UN", "World Health Organization"], "An agency.<SEP>It counts.", "other");
  const other = around("World Health Organization", ["UN", "WHO"], "An agency.", "organization");
  expect(mergePreview("WHO", one, "World Health Organization", other)).toEqual({
    sentences: ["An agency.", "It counts."],
    type: "organization",
    moved: 1,
    shared: 1,
    between: 1,
    isCut: false,
  });
});

test("differences are found by name, and what is gone can be drawn", () => {
  const diff = {
    entities: [
      { name: "A", change: "gone" as const, fields: { type: { before: "person", after: null }, description: { before: "was", after: null } } },
      { name: "B", change: "appeared" as const, fields: {} },
    ],
    relations: [{ source: "B", target: "A", change: "gone" as const, fields: {} }],
  };
  const changes = changesOf(diff);
  expect(changes.nodes.get("A")).toBe("gone");
  expect(changes.edges.get(edgeKey("A", "B"))).toBe("gone");
  expect(partOf(diff).nodes[0]).toEqual({ id: "A", properties: { entity_type: "person", description: "was" } });
});

test("what a panel leaves free is beside it, or above it on a narrow screen, or nothing", () => {
  const canvas = { width: 1000, height: 600 };
  expect(free(canvas, null)).toEqual(canvas);
  expect(free(canvas, { left: 650, top: 10 })).toEqual({ width: 650, height: 600 });
  expect(free(canvas, { left: 10, top: 330 })).toEqual({ width: 1000, height: 330 });
  expect(free(canvas, { left: 10, top: 10 })).toBeNull();
});
