import { expect, test } from "vitest";
import { foldEqual, linkCitations, renumbered } from "../src/pages/ask/citations";
import { linesOf } from "../src/pages/ask/lines";

const KNOWN = ["1", "2"];

test("numbers that name a reference become links with what they are cited for, others stay", () => {
  const { markdown, claims } = linkCitations("She leads it [1]. He keeps it [1, 2] [3].", KNOWN);
  expect(markdown).toBe("She leads it [1](#cite-1-0). He keeps it [1](#cite-1-1) [2](#cite-2-1) [3].");
  expect(claims).toEqual(["She leads it", ". He keeps it"]);
});

test("citations one behind the other are of the same sentence", () => {
  const { markdown, claims } = linkCitations("She leads it. [1] [2]", KNOWN);
  expect(markdown).toBe("She leads it. [1](#cite-1-0) [2](#cite-2-0)");
  expect(claims).toEqual(["She leads it."]);
});

test("references are numbered as they appear, those that are not cited behind them", () => {
  const { markdown, numbers } = linkCitations("First [7]. Then [2]. Again [7].", ["1", "2", "7"]);
  expect([...numbers]).toEqual([["7", 1], ["2", 2], ["1", 3]]);
  expect(markdown).toContain("Then [2](#cite-2-1). Again [1](#cite-7-2).");
  expect(renumbered("First [7]. Then [2, 7].", ["1", "2", "7"])).toBe("First [1]. Then [2, 1].");
});

test("equal sentences of several files are one with all citations", () => {
  expect(foldEqual("- Ada leads the office. [1]\n- ada leads the office [2]\n- Ben keeps it. [2]")).toBe(
    "- Ada leads the office. [1] [2]\n- Ben keeps it. [2]",
  );
  expect(foldEqual("Ada leads the office [1]. Ada leads the office [2].")).toBe("Ada leads the office [1] [2].");
  expect(foldEqual("Yes [1]. Yes [2].")).toBe("Yes [1]. Yes [2].");
  const sources = "(amendment.md [1] supersedes tariff.md [2].)\n\n(amendment.md [1] and rules.md [3] contradict each other.)";
  expect(foldEqual(sources)).toBe(sources);
});

test("code and links stay as they are", () => {
  const text = "`a[1]` [1](https://example.org)\n```\nb[2]\n```";
  expect(linkCitations(text, KNOWN).markdown).toBe(text);
});

test("a line that comes in pieces is one line", async () => {
  const bytes = new TextEncoder().encode('{"response":"é"}\n{"response":"b"}\n');
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
      controller.close();
    },
  });
  const lines = [];
  for await (const line of linesOf(body)) lines.push(line.response);
  expect(lines).toEqual(["é", "b"]);
});
