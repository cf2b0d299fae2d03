import { beforeEach, expect, test, vi } from "vitest";

type Answer = { status: number; response: unknown } | "broken";

/** What the server answers to each file, one after the other. */
const answers = new Map<string, Answer[]>();

class Request {
  upload: Record<string, unknown> = {};
  status = 0;
  statusText = "";
  response: unknown = null;
  onload: () => void = () => undefined;
  onerror: () => void = () => undefined;
  open() {}
  setRequestHeader() {}
  send(form: FormData) {
    const answer = answers.get((form.get("file") as File).name)?.shift() ?? { status: 200, response: { status: "success" } };
    queueMicrotask(() => {
      if (answer === "broken") return this.onerror();
      Object.assign(this, answer);
      this.onload();
    });
  }
}

vi.stubGlobal("XMLHttpRequest", Request);
vi.stubGlobal("document", { baseURI: "http://here/ui/" });
vi.stubGlobal("navigator", { language: "en" });

const { connected } = await import("../src/api/connection");
const { addFiles, uploads, resumeAll, takeUpKept } = await import("../src/pages/documents/uploads");

const { place } = await import("../src/pages/documents/kept");

const file = (name: string) => new File(["text"], name);
const states = () => Object.fromEntries(uploads.get().map(({ name, state }) => [name, state]));

beforeEach(() => {
  answers.clear();
  uploads.set([]);
  connected.set(true);
});

test("what breaks off goes on when the connection is back, and nothing is lost", async () => {
  for (const name of ["a.md", "b.md", "c.md"]) answers.set(name, ["broken"]);
  addFiles(["a.md", "b.md", "c.md", "d.md", "e.md"].map(file), "w");
  await vi.waitFor(() => expect(states()).toEqual({ "a.md": "paused", "b.md": "paused", "c.md": "paused", "d.md": "waiting", "e.md": "waiting" }));
  expect(connected.get()).toBe(false);
  connected.set(true);
  await vi.waitFor(() => expect(new Set(Object.values(states()))).toEqual(new Set(["added"])));
  expect(uploads.get()).toHaveLength(5);
});

test("what is refused is told in the server's words and not sent again", async () => {
  answers.set("a.md", [{ status: 422, response: { detail: "no text in it" } }]);
  answers.set("b.md", [{ status: 409, response: { detail: "another text is there" } }]);
  addFiles([file("a.md"), file("b.md")], "w");
  await vi.waitFor(() => expect(states()).toEqual({ "a.md": "failed", "b.md": "failed" }));
  expect(uploads.get().map(({ message, conflict }) => [message, conflict])).toEqual([["no text in it", false], ["another text is there", true]]);
});

test("a scan is waited for until its pages are recognized, and lets others go first", async () => {
  vi.useFakeTimers();
  const document = (status: string, values = {}) => ({ status, chunks_count: 0, content_summary: "1 of 2 pages", ...values });
  const tracks: Record<string, unknown[][]> = {
    good: [[document("parsing")], [], [document("pending", { warnings: ["a doubt"] })]],
    bad: [[document("failed", { error_msg: "no text in it" })]],
  };
  vi.stubGlobal("fetch", (request: Request & { url: string }) => {
    const documents = tracks[request.url.split("/").at(-1) ?? ""]?.shift() ?? [];
    return Promise.resolve(Response.json({ documents }));
  });
  for (const name of Object.keys(tracks)) answers.set(name, [{ status: 202, response: { status: "success", track_id: name } }]);
  addFiles([file("good"), file("bad")], "w");
  await vi.advanceTimersByTimeAsync(100);
  expect(states()).toEqual({ good: "recognizing", bad: "recognizing" });
  await vi.advanceTimersByTimeAsync(2_100);
  expect(uploads.get().map(({ state, message }) => [state, message])).toEqual([["recognizing", "1 of 2 pages"], ["failed", "no text in it"]]);
  await vi.advanceTimersByTimeAsync(4_100);
  expect(uploads.get()[0]).toMatchObject({ state: "added", message: "a doubt" });
  vi.useRealTimers();
});

test("a file at which the connection breaks again and again is given up", async () => {
  answers.set("a.md", ["broken", "broken", "broken"]);
  addFiles([file("a.md")], "w");
  for (let tries = 0; tries < 2; tries += 1) {
    await vi.waitFor(() => expect(states()["a.md"]).toBe("paused"));
    connected.set(true);
  }
  await vi.waitFor(() => expect(states()["a.md"]).toBe("failed"));
  resumeAll();
  expect(states()["a.md"]).toBe("failed");
});

test("what one person left in the list another in the same browser does not see", async () => {
  await takeUpKept("user:ada");
  answers.set("a.md", ["broken"]);
  addFiles([file("a.md")], "w");
  await vi.waitFor(() => expect(states()).toEqual({ "a.md": "paused" }));
  await takeUpKept("user:bo");
  expect(states()).toEqual({});
});

test("files of one base name in two folders keep their folders", () => {
  connected.set(false);
  addFiles([place(file("README.md"), "a/README.md"), place(file("README.md"), "b/README.md")], "w");
  expect(uploads.get().map(({ name }) => name)).toEqual(["a/README.md", "b/README.md"]);
});
