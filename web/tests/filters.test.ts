import { expect, test } from "vitest";
import { admits, type Filter, typesOf } from "../src/pages/log/filters";

const ALL: Filter = { type: "all", stage: "all", document: "" };
const event = (type: string, stage: string | null = null, document = "doc-1") => ({ type, stage, document }) as never;

test("a stage has what it wrote, what failed there and what it is to try again", () => {
  const filter: Filter = { ...ALL, stage: "extractor" };
  const given = [event("EntitiesExtracted"), event("StageFailed", "extractor"), event("StageFailed", "merger"), event("GraphMerged"), event("RetryRequested", "extractor")];
  expect(given.map((one) => admits(filter, one))).toEqual([true, true, false, false, true]);
  expect(typesOf(filter)).toEqual(["EntitiesExtracted", "StageFailed", "RetryRequested"]);
});

test("type, stage and document narrow down together", () => {
  const filter: Filter = { type: "StageFailed", stage: "merger", document: "doc-1" };
  expect(admits(filter, event("StageFailed", "merger"))).toBe(true);
  expect(admits(filter, event("StageFailed", "merger", "doc-2"))).toBe(false);
  expect(admits(filter, event("GraphMerged"))).toBe(false);
  expect(typesOf(filter)).toEqual(["StageFailed"]);
  expect(typesOf(ALL)).toEqual([]);
});
