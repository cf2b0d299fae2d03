import type { CameraState } from "sigma/types";
import type { Drawn } from "./picture";

/** Milliseconds without a move after which the graph is drawn anew where it is now. */
const SETTLED = 250;

/** Moves of a pressed mouse that may still be a click. */
const CLICK = 3;

/** The layers that are moved: each costs a browser without a graphics card some 13 ms a frame. The others hold what is under the pointer. */
const MOVED = ["edges", "nodes", "labels"];

/** Where what was drawn for `shown` stands when the camera is at `now`, as a CSS transform about the upper left corner. */
function transform(drawn: Drawn, shown: CameraState, now: CameraState): string {
  const corner = drawn.viewportToFramedGraph({ x: 0, y: 0 }, { cameraState: shown });
  const { x, y } = drawn.framedGraphToViewport(corner, { cameraState: now });
  return `translate(${x}px, ${y}px) rotate(${now.angle - shown.angle}rad) scale(${shown.ratio / now.ratio})`;
}

/**
 * Has a large graph move as the picture it is, names and relations with it, and draws it anew when it stands still:
 * a frame then costs the browser the placing of some layers, not tens of thousands of shapes.
 */
export function shiftWhileMoved(drawn: Drawn, isLarge: () => boolean): () => void {
  const camera = drawn.getCamera();
  const { mouse, ...layers } = drawn.getCanvases();
  const moved = MOVED.flatMap((name) => layers[name] ?? []);
  const others = Object.values(layers).filter((layer) => !moved.includes(layer));
  let shown = camera.getState();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const settle = () => {
    clearTimeout(timer);
    shown = camera.getState();
    for (const { style } of moved) style.transform = "";
    for (const { style } of others) style.visibility = "";
    if (mouse) mouse.style.pointerEvents = "";
  };
  const shift = () => {
    const place = transform(drawn, shown, camera.getState());
    for (const { style } of moved) style.transform = place;
    for (const { style } of others) style.visibility = "hidden";
    // What lies under the pointer is read from the graphics card, which has it where it was drawn.
    if (mouse && drawn.getMouseCaptor().draggedEvents > CLICK) mouse.style.pointerEvents = "none";
    clearTimeout(timer);
    timer = setTimeout(() => drawn.scheduleRender(), SETTLED);
  };
  for (const { style } of moved) style.transformOrigin = "0 0";
  drawn.on("beforeRender", settle);
  camera.removeAllListeners("updated"); // sigma's own, which draws each time
  camera.on("updated", () => (isLarge() ? shift() : drawn.scheduleRender()));
  return () => {
    clearTimeout(timer);
    // A movement goes on when the page is left; nothing is drawn of it then.
    camera.removeAllListeners("updated");
  };
}
