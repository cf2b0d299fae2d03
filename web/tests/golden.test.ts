import { expect, test } from "vitest";
import type { Turn } from "../src/pages/ask/conversation";
import { feedbackOf } from "../src/pages/golden/feedback";
import { byPosition, points, pointsByPosition, type Run } from "../src/pages/golden/shares";

const run = (share: number, change: Partial<Run> = {}) => ({ share, as_of: false, before_promotion: false, ...change }) as Run;

test("the line goes from the oldest run to the newest, and leaves out what was never live", () => {
  expect(points([run(1), run(0, { as_of: true }), run(0.5, { before_promotion: true }), run(0)])).toBe("0.0,29.0 100.0,1.0");
  expect(points([run(0.5)])).toBe("0.0,15.0");
});

test("over positions the newest run of each state counts, also one that asked the past", () => {
  const runs = [run(1, { position: 30 }), run(0.5, { position: 10, as_of: true }), run(0, { position: 20 }), run(0, { position: 30 }), run(0, { position: 40, before_promotion: true }), run(1, { position: 0 })];
  const states = byPosition(runs);
  expect(states.map(({ position, share }) => [position, share])).toEqual([[10, 0.5], [20, 0], [30, 1]]);
  expect(pointsByPosition(states)).toBe("0.0,15.0 50.0,29.0 100.0,1.0");
  expect(pointsByPosition(states.slice(0, 1))).toBe("0.0,15.0");
});

test("a thumb says what the answer rests on, and no more than the server takes", () => {
  const reference = { reference_id: "1", file_path: "port.md", chunks: [{ document_id: "doc-1" }] };
  const turn = { question: { query: "q".repeat(5_000), mode: "bypass" }, answer: "a".repeat(60_000), references: [reference], position: 0 } as unknown as Turn;
  const sent = feedbackOf(turn, "down", "wrong");
  expect([sent.question.length, sent.answer?.length]).toEqual([4_000, 50_000]);
  expect(sent.documents).toEqual([{ file_path: "port.md", id: "doc-1" }]);
  expect("mode" in sent || "position" in sent).toBe(false);
});
