import type { Schemas } from "../../api/client";

export type Run = Schemas["GoldenRunEntry"];

/** The kind of a run: of what was live, of the past, or of what did not go live. */
export const kindOf = (run: Run) => (run.as_of ? "past" : run.before_promotion || run.branch ? "kept" : "live");

/** The points of a line through the shares of runs, the oldest first, in a box of 100 by 30. */
export function points(runs: Run[]): string {
  const shares = runs.filter((run) => kindOf(run) === "live").map(({ share }) => share).reverse();
  const step = shares.length > 1 ? 100 / (shares.length - 1) : 0;
  return shares.map((share, n) => `${(n * step).toFixed(1)},${(29 - 28 * share).toFixed(1)}`).join(" ");
}
