import Graph from "graphology";
import { useCallback, useEffect, useRef, useState } from "react";
import { data, useApi, useWorkspace } from "../../api/client";

export interface NodeFacts {
  name: string;
  type: string;
  description: string;
  /** Ids of the chunks it rests on. */
  sources: string[];
  /** Names of the documents it rests on. */
  files: string[];
}

export interface EdgeFacts {
  source: string;
  target: string;
  keywords: string;
  description: string;
  weight: number;
  sources: string[];
  files: string[];
}

export type DrawnGraph = Graph<{ x: number; y: number; size: number; label: string; color: string; facts: NodeFacts }, { facts: EdgeFacts; size: number }>;

const SEPARATOR = "<SEP>";
const MOST_NODES = 5_000;

const text = (value: unknown) => (typeof value === "string" ? value : "");
export const sentences = (description: string) => description.split(SEPARATOR);
const chunkIds = (value: unknown) => text(value).split(SEPARATOR).filter((id) => id.includes("-chunk-"));
const fileNames = (value: unknown) => text(value).split(SEPARATOR).filter(Boolean);

/** The kinds of the entities that are drawn, in the order of their names. */
export const kindsIn = (graph: DrawnGraph) => [...new Set(graph.mapNodes((_, { facts }) => facts.type))].sort();

/** Colours that are told apart on light and dark ground, and by those who see red and green alike. */
const PALETTE = ["#3d8fd1", "#e0903a", "#2fa38c", "#c95f9d", "#8a77d4", "#b59a1c", "#d3614e", "#5b9e3f", "#4fb3c9", "#97857a"];

/** Of what is of no kind: it steps back behind what has one. */
const PLAIN = "#9aa19d";
const NO_KIND = new Set(["other", "unknown"]);

export function colorOf(type: string, types: Map<string, string>): string {
  const known = types.get(type);
  if (known) return known;
  const taken = [...types.keys()].filter((kind) => !isNoKind(kind)).length;
  const color = isNoKind(type) ? PLAIN : (PALETTE[taken % PALETTE.length] ?? PLAIN);
  types.set(type, color);
  return color;
}

const isNoKind = (type: string) => NO_KIND.has(type.toLowerCase());

export interface Part {
  nodes: { [key: string]: unknown }[];
  edges: { [key: string]: unknown }[];
  is_truncated: boolean;
}

/** How much smaller each entity is drawn where there are so many that they would cover each other. */
export const crowding = (nodes: number) => Math.min(1, Math.sqrt(400 / Math.max(1, nodes)));

export function addTo(graph: DrawnGraph, part: Part, types: Map<string, string>, around: string): void {
  const center = graph.hasNode(around) ? graph.getNodeAttributes(around) : { x: 0, y: 0 };
  for (const node of part.nodes) {
    const name = String(node.id);
    if (graph.order >= MOST_NODES && !graph.hasNode(name)) continue;
    const properties = (node.properties ?? {}) as Record<string, unknown>;
    const type = text(properties.entity_type) || "other";
    const facts = { name, type, description: text(properties.description), sources: chunkIds(properties.source_id), files: fileNames(properties.file_path) };
    const color = colorOf(type, types);
    if (graph.hasNode(name)) graph.mergeNodeAttributes(name, { facts, color });
    else graph.addNode(name, { x: center.x + Math.random() - 0.5, y: center.y + Math.random() - 0.5, size: 4, label: name, color, facts });
  }
  for (const edge of part.edges) {
    const [source, target] = [String(edge.source), String(edge.target)];
    if (!graph.hasNode(source) || !graph.hasNode(target) || graph.hasEdge(source, target)) continue;
    const properties = (edge.properties ?? {}) as Record<string, unknown>;
    const weight = Number(properties.weight ?? 1);
    const facts = { source, target, weight, keywords: text(properties.keywords), description: text(properties.description), sources: chunkIds(properties.source_id), files: fileNames(properties.file_path) };
    graph.addEdge(source, target, { facts, size: Math.min(4, 0.6 + Math.log2(1 + weight) / 2) });
  }
  const scale = crowding(graph.order);
  graph.updateEachNodeAttributes((name, attributes) => ({ ...attributes, size: scale * (4 + Math.min(14, 2.2 * Math.sqrt(graph.degree(name)))) }));
}

/** A part of the graph that grows where one looks. `version` counts its changes. */
export function useSubgraph(asOf: string) {
  const api = useApi();
  const workspace = useWorkspace();
  const graph = useRef<DrawnGraph>(new Graph({ type: "undirected" }) as DrawnGraph);
  const types = useRef(new Map<string, string>());
  const [state, setState] = useState({ version: 0, loads: 0, isTruncated: false, isLoading: false, error: null as unknown });

  const load = useCallback(
    async (label: string, depth: number, nodes: number, anew = false) => {
      setState((now) => ({ ...now, isLoading: true, error: null }));
      try {
        const query = { label, max_depth: depth, max_nodes: nodes, ...(asOf ? { as_of: asOf } : {}) };
        const part = data(await api.GET("/graphs", { params: { query } })) as Part;
        if (anew) graph.current.clear();
        addTo(graph.current, part, types.current, label);
        setState((now) => ({ version: now.version + 1, loads: now.loads + 1, isTruncated: part.is_truncated, isLoading: false, error: null }));
      } catch (error) {
        setState((now) => ({ ...now, isLoading: false, error }));
      }
    },
    [api, asOf],
  );

  useEffect(() => {
    graph.current.clear();
    types.current.clear();
    void load("*", 2, 300, true);
  }, [load, workspace]);

  /** Adds what was learnt otherwise, such as what is no longer there; what is drawn already stays as it is. */
  const add = useCallback((part: Part) => {
    const isNew = (node: Part["nodes"][number]) => !graph.current.hasNode(String(node.id));
    addTo(graph.current, { ...part, nodes: part.nodes.filter(isNew) }, types.current, "");
    setState((now) => ({ ...now, version: now.version + 1 }));
  }, []);

  return { graph: graph.current, types: types.current, load, add, ...state };
}
