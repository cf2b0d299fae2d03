import { expect, test } from "vitest";
import { byCause } from "../src/pages/log/causes";
import { line } from "../src/pages/log/series";

test("failures that differ in ids and numbers only have one cause", () => {
  const failures = [
    { stage: "extractor", reason: "chunk 3 of doc-1f2a: the model answered 503" },
    { stage: "extractor", reason: "chunk 12 of doc-77aa: the model answered 502" },
    { stage: "chunker", reason: "the text is empty" },
  ];
  expect(byCause(failures)).toEqual([
    { stage: "extractor", reason: "chunk 3 of doc-1f2a: the model answered 503", count: 2 },
    { stage: "chunker", reason: "the text is empty", count: 1 },
  ]);
});

test("stages are told apart", () => {
  expect(byCause(["chunker", "indexer"].map((stage) => ({ stage, reason: "time-out" })))).toHaveLength(2);
});

test("a line ends at the right, with the most at the top", () => {
  const places = line([0, 10, 5], 59, 12).split(" ");
  expect(places).toEqual(["57.0,11.0", "58.0,1.0", "59.0,6.0"]);
});
