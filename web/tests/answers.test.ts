import { beforeAll, expect, test, vi } from "vitest";

let sentence: (body: unknown, fallback: string) => string;

beforeAll(async () => {
  vi.stubGlobal("document", { baseURI: "http://localhost:9621/ui/" });
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  vi.stubGlobal("localStorage", { getItem: () => null });
  ({ sentence } = await import("../src/api/client"));
});

test("an error is told in the server's words, whatever its form", () => {
  expect(sentence({ detail: "the file has no text" }, "422")).toBe("the file has no text");
  expect(sentence({ detail: [{ msg: "too short", loc: ["body", "query"] }, { msg: "no number" }] }, "422")).toBe(
    "too short; no number",
  );
  expect(sentence({ message: "the query is empty" }, "400")).toBe("the query is empty");
  expect(sentence(null, "502 Bad Gateway")).toBe("502 Bad Gateway");
});
