import { ApiError, BASE, sentence } from "../../api/client";
import { answered } from "../../api/connection";
import { credentialHeaders } from "../../api/session";
import { createStore } from "../../ui/store";

export type UploadState = "waiting" | "sending" | "reading" | "added" | "duplicated" | "failed";

export interface Upload {
  id: number;
  name: string;
  file: File;
  workspace: string;
  state: UploadState;
  /** How much of the file was sent, 0 to 1. */
  sent: number;
  /** Why it was not added, or what the server has to say about it. */
  message: string;
  /** Another text is there under this name: it may be replaced. */
  conflict: boolean;
}

const AT_ONCE = 3;

/** Files that were given to this tab, over all pages: an upload goes on while one looks at something else. */
export const uploads = createStore<Upload[]>([]);

let lastId = 0;
const settledListeners = new Set<(workspace: string) => void>();

/** Calls the listener whenever a file was taken in. */
export function onAdded(listener: (workspace: string) => void): () => void {
  settledListeners.add(listener);
  return () => settledListeners.delete(listener);
}

export function addFiles(files: File[], workspace: string): void {
  const added = files.map((file): Upload => {
    lastId += 1;
    const name = file.name;
    return { id: lastId, name, file, workspace, state: "waiting", sent: 0, message: "", conflict: false };
  });
  uploads.set([...uploads.get(), ...added]);
  startNext();
}

export function tryAgain(upload: Upload, replace = false): void {
  change(upload.id, { state: "waiting", sent: 0, message: "", conflict: replace });
  startNext();
}

export function clearSettled(): void {
  uploads.set(uploads.get().filter((upload) => ["waiting", "sending", "reading"].includes(upload.state)));
}

function change(id: number, values: Partial<Upload>): void {
  uploads.set(uploads.get().map((upload) => (upload.id === id ? { ...upload, ...values } : upload)));
}

function startNext(): void {
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
    const answer = await send(upload, replace);
    const state = answer.status === "duplicated" ? "duplicated" : "added";
    change(upload.id, { state, sent: 1, message: (answer.warnings ?? []).join(" ") });
    for (const listener of settledListeners) listener(upload.workspace);
  } catch (error) {
    const conflict = error instanceof ApiError && error.status === 409;
    change(upload.id, { state: "failed", message: (error as Error).message, conflict });
  } finally {
    startNext();
  }
}

interface Answer {
  status: string;
  warnings?: string[];
}

/** Sends one file. Not with fetch, which does not tell how much of a body was sent. */
function send(upload: Upload, replace: boolean): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const form = new FormData();
    form.append("file", upload.file, upload.name);
    const http = new XMLHttpRequest();
    http.open("POST", `${BASE}/documents/upload${replace ? "?replace=true" : ""}`);
    const headers = { ...credentialHeaders(), "X-Workspace": upload.workspace };
    for (const [name, value] of Object.entries(headers)) http.setRequestHeader(name, value);
    http.responseType = "json";
    http.upload.onprogress = (event) => {
      const sent = event.lengthComputable ? event.loaded / event.total : 0;
      change(upload.id, sent < 1 ? { sent } : { sent, state: "reading" });
    };
    http.onload = () => {
      answered(true);
      if (http.status < 300) resolve(http.response as Answer);
      else reject(new ApiError(http.status, sentence(http.response, `${http.status} ${http.statusText}`)));
    };
    http.onerror = () => {
      answered(false);
      reject(new Error("—"));
    };
    http.send(form);
  });
}
