import type Sigma from "sigma";
import type { DrawnGraph } from "./useSubgraph";

export type DrawnNode = ReturnType<DrawnGraph["getNodeAttributes"]>;
export type DrawnEdge = ReturnType<DrawnGraph["getEdgeAttributes"]>;

/** The graph with its camera and layers. */
export type Drawn = Sigma<DrawnNode, DrawnEdge>;

/** What is shown, as PNG: its layers one over the other. They are drawn and read in one go, for WebGL keeps no picture. */
export function asPicture(drawn: Drawn, ground: string): Promise<Blob | null> {
  drawn.refresh();
  const layers = Object.values(drawn.getCanvases());
  const picture = document.createElement("canvas");
  picture.width = Math.max(...layers.map(({ width }) => width));
  picture.height = Math.max(...layers.map(({ height }) => height));
  const pen = picture.getContext("2d");
  if (!pen) return Promise.resolve(null);
  pen.fillStyle = ground;
  pen.fillRect(0, 0, picture.width, picture.height);
  for (const layer of layers) if (layer.width > 0 && layer.height > 0) pen.drawImage(layer, 0, 0);
  return new Promise((resolve) => picture.toBlob(resolve));
}
