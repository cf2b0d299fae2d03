import { ApiError, api, BASE, data, sentence } from "../../api/client";
import { answered, connected } from "../../api/connection";
import { credentialHeaders, credentials, onSignOut, signOut } from "../../api/session";
import { createStore } from "../../ui/store";
import { type NewAccess, newAccess } from "../access/newAccess";
import { forgetAllFiles, forgetFiles, keepFiles, keptFiles, pathOf } from "./kept";

export type UploadState = "waiting" | "sending" | "reading" | "recognizing" | "added" | "duplicated" | "failed" | "paused";

export interface Upload {
  id: number;
  name: string;
  /** The folders it was in, with its name. */
  path: string;
  file: File;
  workspace: string;
  /** The principal whose upload it is. */
  owner: string;
  state: UploadState;
  /** How much of the file was sent, 0 to 1. */
  sent: number;
  /** Why it was not added, or what the server has to say about it. */
  message: string;
  /** Who may see it; nothing: everyone, or whoever saw the document before. */
  access?: NewAccess | undefined;
  /** Another text is there under this name: it may be replaced. */
  conflict: boolean;
  /** Times that the connection broke while it was sent. */
  breaks: number;
}

const AT_ONCE = 3;

/** A file at which the connection breaks as often is not sent again by itself: it may be what breaks it. */
const MOST_BREAKS = 3;

/** Milliseconds between two looks how many pages are recognized, and looks without a word of them: another process
 * may have been asked, or the one that read them is gone. */
const LOOK = 2_000;
const MOST_SILENT_LOOKS = 150;

/** Whose uploads are shown and sent. */
let owner = "";

/** Files that were given to this tab, over all pages: an upload goes on while one looks at something else. */
export const uploads = createStore<Upload[]>([]);

/** Ids grow from one visit to the next, because files of an earlier one may be among the uploads. */
let lastId = Date.now() * 1000;
const settledListeners = new Set<(workspace: string) => void>();

/** Calls the listener whenever a file was taken in. */
export function onAdded(listener: (workspace: string) => void): () => void {
  settledListeners.add(listener);
  return () => settledListeners.delete(listener);
}

const fresh = { state: "waiting", sent: 0, message: "", breaks: 0 } as const;

/** Takes files. `replaces`: the document that a single one is to be a new text of. */
export function addFiles(files: File[], workspace: string, replaces = ""): void {
  const added = files.map((file): Upload => {
    lastId += 1;
    const path = pathOf(file);
    const access = replaces ? undefined : newAccess.get()[workspace];
    return { ...fresh, id: lastId, name: replaces || path, path, file, workspace, owner, access, conflict: replaces !== "" };
  });
  uploads.set([...uploads.get(), ...added]);
  void keepFiles(added);
  startNext();
}

/** Puts what an earlier visit of this principal did not get to send into the list, to be gone on with; nothing of another's. */
export async function takeUpKept(principal: string): Promise<void> {
  owner = principal;
  uploads.set(uploads.get().filter((upload) => upload.owner === principal));
  const kept = (await keptFiles()).filter((one) => one.owner === principal && one.owner === owner);
  const known = new Set(uploads.get().map(({ id }) => id));
  const missing = kept
    .filter(({ id }) => !known.has(id))
    .map(({ refusal = "", ...file }): Upload => ({ ...file, ...fresh, state: refusal ? "failed" : "paused", message: refusal }));
  if (missing.length > 0) uploads.set([...missing, ...uploads.get()]);
}

/** Goes on with what was interrupted. */
export function resumeAll(): void {
  uploads.set(uploads.get().map((upload) => (upload.state === "paused" ? { ...upload, state: "waiting" } : upload)));
  startNext();
}

onSignOut(() => {
  uploads.set([]);
  void forgetAllFiles();
});

/** What a connection that was lost has interrupted goes on when it is back. */
connected.subscribe(() => {
  if (connected.get()) resumeAll();
});

export function tryAgain(upload: Upload, replace = false): void {
  change(upload.id, { ...fresh, conflict: replace });
  void keepFiles([{ ...upload, conflict: replace }]);
  startNext();
}

/** Takes a row out of the list. */
export function dismiss(id: number): void {
  uploads.set(uploads.get().filter((upload) => upload.id !== id));
  void forgetFiles([id]);
}

export function clearSettled(): void {
  const [gone, left] = [uploads.get().filter(isSettled), uploads.get().filter((upload) => !isSettled(upload))];
  uploads.set(left);
  void forgetFiles(gone.map(({ id }) => id));
}

const isSettled = ({ state }: Upload) => ["added", "duplicated", "failed", "paused"].includes(state);

function change(id: number, values: Partial<Upload>): void {
  uploads.set(uploads.get().map((upload) => (upload.id === id ? { ...upload, ...values } : upload)));
}

/** What was refused stays in the list until somebody dismisses it, also when the page is loaded anew. */
function fail(upload: Upload, message: string, conflict: boolean): void {
  change(upload.id, { state: "failed", message, conflict });
  if (message) void keepFiles([{ ...upload, conflict, refusal: message }]);
}

function startNext(): void {
  if (!connected.get()) return;
  const running = uploads
    .get()
    .filter((upload) => upload.state === "sending" || upload.state === "reading").length;
  const next = uploads
    .get()
    .filter((upload) => upload.state === "waiting")
    .slice(0, AT_ONCE - running);
  for (const upload of next) void run(upload);
}

async function run(upload: Upload): Promise<void> {
  const replace = upload.conflict;
  change(upload.id, { state: "sending", conflict: false });
  try {
    const answer = await recognized(upload, await send(upload, replace));
    const state = answer.status === "duplicated" ? "duplicated" : "added";
    change(upload.id, { state, sent: 1, message: (answer.warnings ?? []).join("; ") });
    void forgetFiles([upload.id]);
    for (const listener of settledListeners) listener(upload.workspace);
  } catch (error) {
    // No answer, or an ended session: no fault of the file, which is sent when there is one again.
    const isInterrupted = !(error instanceof ApiError) || error.status === 401;
    const conflict = error instanceof ApiError && error.status === 409;
    if (isInterrupted && upload.breaks + 1 < MOST_BREAKS) change(upload.id, { state: "paused", sent: 0, conflict: replace, breaks: upload.breaks + 1 });
    else fail(upload, isInterrupted ? "" : error.message, conflict);
  } finally {
    startNext();
  }
}

interface Answer {
  status: string;
  track_id: string;
  warnings?: string[];
  /** Pages of the file are recognized first. */
  isBeingRead: boolean;
}

/** Waits while pages of the file are recognized, and shows how far that is. Throws an ApiError for a file that is refused. */
async function recognized(upload: Upload, answer: Answer): Promise<Answer> {
  if (!answer.isBeingRead) return answer;
  change(upload.id, { state: "recognizing", sent: 1 });
  startNext();
  const path = { track_id: answer.track_id };
  for (let silent = 0; silent < MOST_SILENT_LOOKS; silent += 1) {
    await new Promise((resolve) => setTimeout(resolve, LOOK));
    const track = data(await api(upload.workspace).GET("/documents/track_status/{track_id}", { params: { path } }));
    const [document] = track.documents;
    if (!document) continue;
    if (document.status === "failed" && document.chunks_count === 0) throw new ApiError(422, document.error_msg ?? "");
    if (document.status !== "parsing") return { ...answer, warnings: document.warnings ?? [] };
    change(upload.id, { message: document.content_summary });
    silent = 0;
  }
  throw new Error("no answer");
}

/** Sends one file. Not with fetch, which does not tell how much of a body was sent. */
function send(upload: Upload, replace: boolean): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const form = new FormData();
    // With its folders, for two of them may each have a README.md.
    form.append("file", upload.file, upload.name);
    const http = new XMLHttpRequest();
    const query = new URLSearchParams({ folders: "true", ...(replace ? { replace: "true" } : {}) });
    for (const principal of upload.access?.allow ?? []) query.append("allow", principal);
    for (const principal of upload.access?.deny ?? []) query.append("deny", principal);
    http.open("POST", `${BASE}/documents/upload?${query}`);
    const headers = { ...credentialHeaders(), "X-Workspace": upload.workspace };
    for (const [name, value] of Object.entries(headers)) http.setRequestHeader(name, value);
    http.responseType = "json";
    http.upload.onprogress = (event) => {
      const sent = event.lengthComputable ? event.loaded / event.total : 0;
      change(upload.id, sent < 1 ? { sent } : { sent, state: "reading" });
    };
    http.onload = () => {
      answered(true);
      if (http.status === 401 && credentials.get().token) signOut("expired");
      if (http.status < 300) resolve({ ...(http.response as Answer), isBeingRead: http.status === 202 });
      else reject(new ApiError(http.status, sentence(http.response, `${http.status} ${http.statusText}`)));
    };
    http.onerror = () => {
      answered(false);
      reject(new Error("no answer"));
    };
    http.send(form);
  });
}
