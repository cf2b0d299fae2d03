import forceAtlas2 from "graphology-layout-forceatlas2";
import { useEffect, useRef } from "react";
import Sigma from "sigma";
import type { DrawnGraph } from "./useSubgraph";

type CanvasProps = {
  graph: DrawnGraph;
  version: number;
  selected: string;
  hidden: ReadonlySet<string>;
  onSelect: (name: string) => void;
  label: string;
};

const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Enough rounds to take a small graph apart; fewer for a big one, which would keep the page waiting. */
const rounds = (nodes: number) => Math.max(30, Math.min(300, Math.round(60_000 / (nodes + 1))));

/** The graph, drawn with WebGL. What it shows stands in the list beside it too. */
export default function Canvas({ graph, version, selected, hidden, onSelect, label }: CanvasProps) {
  const place = useRef<HTMLDivElement>(null);
  const sigma = useRef<{ refresh(): unknown } | null>(null);
  const view = useRef({ selected, hidden, onSelect });
  view.current = { selected, hidden, onSelect };

  useEffect(() => {
    if (!place.current) return;
    const drawn = new Sigma(graph, place.current, {
      allowInvalidContainer: true,
      labelColor: { color: color("--ink") },
      labelFont: "system-ui, sans-serif",
      labelSize: 12.5,
      labelRenderedSizeThreshold: 6,
      defaultEdgeColor: color("--edge"),
      zIndex: true,
      nodeReducer(name, attributes) {
        const { selected: chosen, hidden: types } = view.current;
        const isOut = types.has((attributes.facts as { type: string }).type);
        const isNear = !chosen || name === chosen || !graph.hasNode(chosen) || graph.areNeighbors(name, chosen);
        return {
          ...attributes,
          hidden: isOut,
          color: isNear ? attributes.color : color("--line"),
          label: isNear ? attributes.label : "",
          forceLabel: name === chosen,
          highlighted: false,
          zIndex: isNear ? 1 : 0,
        };
      },
      edgeReducer(edge, attributes) {
        const chosen = view.current.selected;
        const isNear = chosen && graph.hasNode(chosen) && graph.hasExtremity(edge, chosen);
        return { ...attributes, color: isNear ? color("--accent") : color(chosen ? "--line" : "--edge") };
      },
    });
    drawn.on("clickNode", ({ node }) => view.current.onSelect(node));
    drawn.on("clickStage", () => view.current.onSelect(""));
    sigma.current = drawn;
    const restyle = () => {
      drawn.setSetting("labelColor", { color: color("--ink") });
      drawn.refresh();
    };
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", restyle);
    const watcher = new MutationObserver(restyle);
    watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      scheme.removeEventListener("change", restyle);
      watcher.disconnect();
      drawn.kill();
    };
  }, [graph]);

  useEffect(() => {
    if (graph.order > 1 && version > 0)
      forceAtlas2.assign(graph, { iterations: rounds(graph.order), settings: { ...forceAtlas2.inferSettings(graph), gravity: 0.6, adjustSizes: graph.order < 800 } });
    sigma.current?.refresh();
  }, [graph, version]);

  useEffect(() => {
    sigma.current?.refresh();
  });

  return <div ref={place} className="canvas" role="img" aria-label={label} />;
}
