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

/** The newest run of each state of the documents, also of the past ones that were asked later, the earliest state first. */
export function byPosition(runs: Run[]): Run[] {
  const newest = new Map<number, Run>();
  for (const run of runs) if (kindOf(run) !== "kept" && run.position > 0 && !newest.has(run.position)) newest.set(run.position, run);
  return [...newest.values()].sort((one, other) => one.position - other.position);
}

/** The points of a line over positions in the log, in a box of 100 by 30: how far apart they stand is how far apart the states are. */
export function pointsByPosition(runs: Run[]): string {
  const [first, last] = [runs[0]?.position ?? 0, runs.at(-1)?.position ?? 0];
  const width = last - first || 1;
  return runs.map(({ position, share }) => `${((100 * (position - first)) / width).toFixed(1)},${(29 - 28 * share).toFixed(1)}`).join(" ");
}
