import { expect, test } from "vitest";
import { secondsLeft } from "../src/pages/log/series";

const consumer = (pending: number, rate: number | null) => ({ name: "x", stage: "extractor", pending, ack_pending: 1, redelivered: 0, delivered: 0, handled: 0, rate, rate_since: null });

test("the slowest consumer says when all is done; one without a rate says nothing", () => {
  expect(secondsLeft([consumer(99, 10), consumer(49, 2), consumer(10_000, null), consumer(-1, 5)] as never)).toBe(25);
  expect(secondsLeft([consumer(10, 0)] as never)).toBeNull();
  expect(secondsLeft([])).toBeNull();
});
