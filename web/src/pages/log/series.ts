import type { Schemas } from "../../api/client";
import { createStore } from "../../ui/store";

type Progress = Schemas["ConsumerProgress"];

export interface Point {
  lag: number;
  rate: number;
}

const KEPT = 60;

/** What was seen of each consumer since the page was opened, the newest last. */
export const series = createStore<Readonly<Record<string, Point[]>>>({});

export const lagOf = ({ pending, ack_pending }: Progress) => pending + ack_pending;

/** Seconds until the slowest of the consumers has caught up, at its rate of now; null when none has a rate to go by. */
export function secondsLeft(consumers: Progress[]): number | null {
  const known = consumers.flatMap((one) => (lagOf(one) > 0 && (one.rate ?? 0) > 0 ? [lagOf(one) / (one.rate ?? 1)] : []));
  return known.length > 0 ? Math.ceil(Math.max(...known)) : null;
}

export function remember(consumers: Progress[]): void {
  const before = series.get();
  series.set(Object.fromEntries(consumers.map((one) => [one.name, [...(before[one.name] ?? []), { lag: lagOf(one), rate: one.rate ?? 0 }].slice(-KEPT)])));
}

/** Points of a line through the values, in a box of the given size; the newest value is at its right edge. */
export function line(values: number[], width: number, height: number): string {
  const most = Math.max(1, ...values);
  const step = width / (KEPT - 1);
  const left = width - step * (values.length - 1);
  return values.map((value, index) => `${(left + index * step).toFixed(1)},${(height - (height - 2) * (value / most) - 1).toFixed(1)}`).join(" ");
}
