import forceAtlas2 from "graphology-layout-forceatlas2";
import Layout from "graphology-layout-forceatlas2/worker";
import { type RefObject, useEffect, useRef } from "react";
import Sigma from "sigma";
import { EdgeLineProgram, EdgeRectangleProgram } from "sigma/rendering";
import { edgeEmphasis, type Emphasis, isEdgeHidden, isHidden, nodeEmphasis, type View } from "./looks";
import { asPicture, type Drawn, type DrawnEdge, type DrawnNode } from "./picture";
import { shiftWhileMoved } from "./shifting";
import { bringIntoSight } from "./sight";
import { crowding, type DrawnGraph, type EdgeFacts, type NodeFacts } from "./useSubgraph";

type CanvasProps = {
  graph: DrawnGraph;
  version: number;
  view: View;
  onSelect: (name: string) => void;
  onExpand: (name: string) => void;
  label: string;
  /** Is given a way to draw what is shown as PNG. */
  picture: RefObject<() => Promise<Blob | null>>;
};

const NAMES = ["ink", "panel", "edge", "line", "accent", "good", "warn", "bad"] as const;
type Colors = Record<(typeof NAMES)[number], string>;

/** The colours of the theme as they are now, which WebGL must be told. Asking the browser costs, so not once a node. */
function colorsNow(place: HTMLElement): Colors {
  const probe = place.appendChild(document.createElement("i"));
  const found = NAMES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(found) as Colors;
}

const COLOR_OF: Partial<Record<Emphasis, keyof Colors>> = { appeared: "good", changed: "warn", gone: "bad", far: "line" };

/** A graph of more entities than this is laid out by a worker, so that the page goes on meanwhile. */
const SMALL = 500;

/** Pixels from which on an entity has its name beside it, unless they are crowded. */
const LABELLED = 6;

/** A graph of more relations than this is moved as a picture, and its relations are lines of one width. */
const HEAVY = 5_000;

/** Milliseconds between two looks at what the worker has: each draws every entity and relation anew. */
const LOOK = 1_500;

/** Enough rounds to take a small graph apart. */
const rounds = (nodes: number) => Math.max(60, Math.min(300, Math.round(60_000 / (nodes + 1))));

/** Milliseconds that a worker lays out a graph: longer for a bigger one. */
const patience = (nodes: number) => Math.min(12_000, 2_000 + 2 * nodes);

/** Lays the graph out. Returns what ends it. */
function layOut(graph: DrawnGraph): () => void {
  const settings = { ...forceAtlas2.inferSettings(graph), gravity: 0.6, adjustSizes: graph.order < 800 };
  if (graph.order <= SMALL) {
    forceAtlas2.assign(graph, { iterations: rounds(graph.order), settings });
    return () => undefined;
  }
  // The worker moves a copy: of the graph that is drawn, each of its many rounds would be a frame.
  const copy = graph.copy() as DrawnGraph;
  const layout = new Layout(copy, { settings });
  const look = () =>
    graph.updateEachNodeAttributes((name, attributes) => (copy.hasNode(name) ? { ...attributes, ...position(copy, name) } : attributes), { attributes: ["x", "y"] });
  layout.start();
  const looks = setInterval(look, LOOK);
  const end = () => {
    clearInterval(looks);
    clearTimeout(timer);
    layout.kill();
  };
  const timer = setTimeout(() => {
    end();
    look();
  }, patience(graph.order));
  return end;
}

function position(graph: DrawnGraph, name: string): { x: number; y: number } {
  const { x, y } = graph.getNodeAttributes(name);
  return { x, y };
}

function drawnBy(container: HTMLElement, graph: DrawnGraph, now: { readonly current: View }) {
  let colors = colorsNow(container);
  const drawn = new Sigma<DrawnNode, DrawnEdge>(graph, container, {
    allowInvalidContainer: true,
    labelColor: { color: colors.ink },
    labelFont: "system-ui, sans-serif",
    labelSize: 12.5,
    defaultEdgeColor: colors.edge,
    edgeProgramClasses: { line: EdgeLineProgram, bar: EdgeRectangleProgram },
    zIndex: true,
    nodeReducer(name, attributes) {
      const view = now.current;
      const { selected } = view;
      const isNear = !selected || name === selected || !graph.hasNode(selected) || graph.areNeighbors(name, selected);
      const emphasis = nodeEmphasis(name, isNear, view);
      const color = COLOR_OF[emphasis];
      return {
        ...attributes,
        hidden: isHidden(attributes.facts as NodeFacts, view),
        color: color ? colors[color] : attributes.color,
        label: emphasis === "far" ? "" : attributes.label,
        forceLabel: name === selected || emphasis === "hop",
        zIndex: emphasis === "far" ? 0 : 1,
      };
    },
    edgeReducer(edge, attributes) {
      const view = now.current;
      const facts = attributes.facts as EdgeFacts;
      const emphasis = edgeEmphasis(facts, graph.hasNode(view.selected) && graph.hasExtremity(edge, view.selected), view);
      const isDrawnOut = emphasis === "near" || emphasis === "hop";
      return {
        ...attributes,
        type: isDrawnOut || graph.size <= HEAVY ? "bar" : "line",
        hidden: isEdgeHidden(facts, view),
        color: isDrawnOut ? colors.accent : colors[COLOR_OF[emphasis] ?? "edge"],
        size: emphasis === "hop" ? 4 : (attributes.size as number),
        zIndex: emphasis === "far" ? 0 : 1,
      };
    },
  });
  const restyle = () => {
    colors = colorsNow(container);
    drawn.setSetting("labelColor", { color: colors.ink });
    drawn.refresh();
  };
  return { drawn, restyle, ground: () => colors.panel };
}

/** The graph, drawn with WebGL. What it shows stands in the list beside it too. */
export default function Canvas({ graph, version, view, onSelect, onExpand, label, picture }: CanvasProps) {
  const place = useRef<HTMLDivElement>(null);
  const sigma = useRef<Drawn | null>(null);
  const now = useRef(view);
  now.current = view;
  const select = useRef(onSelect);
  select.current = onSelect;
  const expand = useRef(onExpand);
  expand.current = onExpand;

  useEffect(() => {
    const container = place.current;
    if (!container) return;
    const { drawn, restyle, ground } = drawnBy(container, graph, now);
    drawn.on("clickNode", ({ node }) => select.current(node));
    drawn.on("doubleClickNode", ({ node, preventSigmaDefault }) => {
      preventSigmaDefault(); // which would zoom
      expand.current(node);
    });
    drawn.on("clickStage", () => select.current(""));
    const stop = shiftWhileMoved(drawn, () => graph.size > HEAVY);
    sigma.current = drawn;
    picture.current = () => asPicture(drawn, ground());
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", restyle);
    const watcher = new MutationObserver(restyle);
    watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      scheme.removeEventListener("change", restyle);
      watcher.disconnect();
      stop();
      drawn.kill();
    };
  }, [graph, picture]);

  useEffect(() => {
    const end = graph.order > 1 && version > 0 ? layOut(graph) : undefined;
    sigma.current?.setSetting("labelRenderedSizeThreshold", LABELLED * crowding(graph.order));
    sigma.current?.refresh();
    return end;
  }, [graph, version]);

  useEffect(() => {
    sigma.current?.refresh();
  }, [view]);

  useEffect(() => {
    if (sigma.current) bringIntoSight(sigma.current, view.selected);
  }, [view.selected, version]);

  return <div ref={place} className="canvas" role="img" aria-label={label} />;
}
