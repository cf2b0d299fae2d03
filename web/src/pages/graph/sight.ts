import type { Drawn } from "./picture";

/** Pixels that a selected entity keeps from the edge of what is free. */
const MARGIN = 40;

/** A panel that leaves less than this share of the graph free covers it, as on a telephone. */
const LEAST = 0.3;

export interface Size {
  width: number;
  height: number;
}

/** What of the graph no panel covers, from its upper left corner; `panel` is where the panel begins. */
export function free({ width, height }: Size, panel: { left: number; top: number } | null): Size | null {
  if (!panel) return { width, height };
  if (panel.left >= LEAST * width) return { width: panel.left, height };
  if (panel.top >= LEAST * height) return { width, height: panel.top };
  return null;
}

/** Moves the camera until the entity is in the part of the graph that its panel leaves free; nothing where it is there. */
export function bringIntoSight(drawn: Drawn, name: string): void {
  const shown = name && drawn.getGraph().hasNode(name) ? drawn.getNodeDisplayData(name) : undefined;
  if (!shown) return;
  const canvas = drawn.getContainer().getBoundingClientRect();
  const panel = drawn.getContainer().parentElement?.querySelector("aside")?.getBoundingClientRect();
  const left = free(drawn.getDimensions(), panel ? { left: panel.left - canvas.left, top: panel.top - canvas.top } : null);
  if (!left) return;
  const at = drawn.framedGraphToViewport(shown);
  const isIn = (place: number, size: number) => place >= MARGIN && place <= size - MARGIN;
  if (isIn(at.x, left.width) && isIn(at.y, left.height)) return;
  const here = drawn.viewportToFramedGraph(at);
  const there = drawn.viewportToFramedGraph({ x: left.width / 2, y: left.height / 2 });
  const { x, y } = drawn.getCamera().getState();
  const duration = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 300;
  void drawn.getCamera().animate({ x: x + here.x - there.x, y: y + here.y - there.y }, { duration });
}
