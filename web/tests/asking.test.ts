import { beforeAll, expect, test, vi } from "vitest";
import type { Owner, SavedConversation } from "../src/pages/ask/conversations";
import type * as Conversation from "../src/pages/ask/conversation";
import type * as Parameters from "../src/pages/ask/parameters";

let conversation: typeof Conversation;
let parameters: typeof Parameters;

beforeAll(async () => {
  vi.stubGlobal("document", { baseURI: "http://localhost:9621/ui/" });
  vi.stubGlobal("location", { href: "http://localhost:9621/ui/#/default/ask" });
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  vi.stubGlobal("localStorage", { getItem: () => null });
  conversation = await import("../src/pages/ask/conversation");
  parameters = await import("../src/pages/ask/parameters");
});

test("a shared question comes back with its mode and its comparison", () => {
  const shared = parameters.address("default", { query: "Who & why?", mode: "walk" });
  const params = new URLSearchParams(shared.split("?").slice(1).join("?"));
  expect(params.get("q")).toBe("Who & why?");
  expect(parameters.fromAddress(params).mode).toBe("walk");
  expect(parameters.fromAddress(new URLSearchParams("mode=mix&compare=walk")).compare).toBe("walk");
  expect(parameters.fromAddress(new URLSearchParams("mode=mix&compare=mix")).compare).toBe("");
  expect(parameters.fromAddress(new URLSearchParams("mode=nonsense")).mode).toBe("");
});

test("a question whose mode nobody chose leaves it to the server", () => {
  expect(parameters.toQuestion("Who?", parameters.DEFAULTS)).toEqual({ query: "Who?", effort: "low" });
});

test("a question about some documents is asked and shared with its filter", () => {
  const given = { ...parameters.DEFAULTS, documents: "doc-1, doc-2", tags: "minutes", from: "2026-03-01", until: "2026-03-31" };
  const question = parameters.toQuestion("Who?", given);
  expect(question.filter).toEqual({
    document_ids: ["doc-1", "doc-2"],
    tags: ["minutes"],
    added_from: new Date(2026, 2, 1).toISOString(),
    added_before: new Date(2026, 3, 1).toISOString(),
  });
  const shared = parameters.address("default", question);
  const { documents, tags, from, until } = parameters.fromAddress(new URLSearchParams(shared.split("?")[1]));
  expect({ documents, tags, from, until }).toEqual({ documents: "doc-1,doc-2", tags: "minutes", from: "2026-03-01", until: "2026-03-31" });
  expect(parameters.toQuestion("Who?", { ...given, documents: " ,", tags: "", from: "tomorrow", until: "" })).not.toHaveProperty("filter");
});

test("the comparison is the page's own and is not sent", () => {
  const question = parameters.toQuestion("Who?", { ...parameters.DEFAULTS, mode: "mix", compare: "walk" });
  expect(question).toEqual({ query: "Who?", mode: "mix", effort: "low" });
});

test("two that were asked together stand in one row", () => {
  const turn = (id: number, pair: number) => ({ id, pair }) as Conversation.Turn;
  const rows = conversation.sideBySide([turn(1, 0), turn(2, 2), turn(3, 2), turn(4, 0)]);
  expect(rows.map((row) => row.map(({ id }) => id))).toEqual([[1], [2, 3], [4]]);
});

test("an answer is told of what came after it, and of that only", () => {
  const at = (type: string, second: number) => ({ type, time: `2026-11-23T03:00:0${second}Z` });
  const position = Date.parse("2026-11-23T03:00:05Z") * 1000;
  const events = [at("DocumentAdded", 4), at("DocumentAdded", 6), at("EntitiesExtracted", 7), at("GraphEdited", 8)];
  expect(conversation.changesSince(events, position)).toBe(2);
});

test("conversations are kept by account and workspace, and found by what was asked", async () => {
  const { conversations, conversationsOf, found, keep, remove, rename } = await import("../src/pages/ask/conversations");
  const [ada, ben] = ["ada", "ben"].map((account) => ({ account, workspace: "default" })) as [Owner, Owner];
  keep(ada, "one", { query: "Who keeps the lighthouse?" }, 1);
  keep(ada, "two", { query: "Where is the tide gauge?" }, 2);
  keep(ada, "one", { query: "And since when?" }, 3);
  keep(ben, "three", { query: "Who pays?" }, 4);
  const names = (search: string) => found(conversationsOf(conversations.get(), ada), search).map(({ name }) => name);
  expect(names("")).toEqual(["Who keeps the lighthouse?", "Where is the tide gauge?"]);
  expect(names("WHEN lighthouse")).toEqual(["Who keeps the lighthouse?"]);
  rename(ada, "two", " Tides ");
  remove(ada, "one");
  expect(names("")).toEqual(["Tides"]);
  expect(conversationsOf(conversations.get(), ben)).toHaveLength(1);
});

test("conversations of an account go to the server, and those that only the browser had follow", async () => {
  const { adopt, conversations, conversationsOf, keep, remove } = await import("../src/pages/ask/conversations");
  const sent: string[] = [];
  const remote = {
    put: ({ id, questions }: SavedConversation) => Promise.resolve(sent.push(`put ${id} ${questions.length}`)),
    remove: (id: string) => Promise.resolve(sent.push(`remove ${id}`)),
  };
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", { getItem: (name: string) => kept.get(name) ?? null, setItem: (name: string, value: string) => kept.set(name, value) });
  const browser = { account: "eva", workspace: "default" };
  keep(browser, "one", { query: "Who keeps the lighthouse?" }, 1);
  const owner = { ...browser, remote };
  adopt(owner, [{ id: "two", name: "Tides", at: 2, questions: [{ query: "Where is the tide gauge?" }] }]);
  expect(conversationsOf(conversations.get(), owner).map(({ id }) => id)).toEqual(["two", "one"]);
  expect([...kept.values()].join()).not.toContain("lighthouse");
  keep(owner, "two", { query: "Since when?" }, 3);
  remove(owner, "one");
  expect(sent).toEqual(["put one 1", "put two 2", "remove one"]);
});
