import { expect, test } from "vitest";
import { plainSummary } from "../src/pages/documents/summary";

test("a summary of Markdown is a line to read", () => {
  expect(plainSummary("# Links See [the manual](../docs/m.md), ![a lamp](l.png) and **so** on. ## Next `x`")).toBe(
    "Links See the manual, a lamp and so on. Next x",
  );
  expect(plainSummary("## Budget | Post | Total | | --- | --- | | Rent | 12 |")).toBe("Budget · Post · Total · Rent · 12");
  expect(plainSummary("See [the man](../doc")).toBe("See the man");
});

test("what is no Markdown stays", () => {
  expect(plainSummary("It costs 5 * 3, in C# [1] at no. #4.")).toBe("It costs 5 * 3, in C# [1] at no. #4.");
});
