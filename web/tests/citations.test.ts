import { expect, test } from "vitest";
import { linkCitations } from "../src/pages/ask/citations";
import { linesOf } from "../src/pages/ask/lines";

const KNOWN = new Set(["1", "2"]);

test("numbers that name a reference become links, others stay", () => {
  expect(linkCitations("She leads it [1]. He keeps it [1, 2] [3].", KNOWN)).toBe(
    "She leads it [1](#cite-1). He keeps it [1](#cite-1) [2](#cite-2) [3].",
  );
});

test("code and links stay as they are", () => {
  const text = "`a[1]` [1](https://example.org)\n```\nb[2]\n```";
  expect(linkCitations(text, KNOWN)).toBe(text);
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
