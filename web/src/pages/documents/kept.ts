/** Files that are still to be sent or were refused, kept in the browser so that a list outlives the page. */

import type { NewAccess } from "../access/newAccess";

export interface Kept {
  id: number;
  name: string;
  path: string;
  file: File;
  workspace: string;
  /** The principal whose list it is in: another person in the same browser does not see it. */
  owner: string;
  access?: NewAccess | undefined;
  conflict: boolean;
  /** Why the server did not take it; without it the file is still to be sent. */
  refusal?: string;
}

const NAME = "lightstream";
const STORE = "uploads";

const paths = new WeakMap<File, string>();

/** Says in which folder a dropped file was; of one that was chosen the browser knows. */
export function place(file: File, path: string): File {
  paths.set(file, path);
  return file;
}

export const pathOf = (file: File) => paths.get(file) ?? (file.webkitRelativePath || file.name);

const answer = <T>(request: IDBRequest<T>) =>
  new Promise<T>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the browser keeps nothing"));
  });

async function withStore<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => Promise<T>): Promise<T> {
  const opening = indexedDB.open(NAME, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "id" });
  const database = await answer(opening);
  try {
    return await work(database.transaction(STORE, mode).objectStore(STORE));
  } finally {
    database.close();
  }
}

/** Keeps the files. A browser that has no room or may keep nothing does without: then a list ends with its page. */
export async function keepFiles(files: readonly Kept[]): Promise<void> {
  const kept = files.map(({ id, name, path, file, workspace, owner, access, conflict, refusal = "" }): Kept => ({ id, name, path, file, workspace, owner, access, conflict, refusal }));
  await withStore("readwrite", async (store) => {
    await Promise.all(kept.map((one) => answer(store.put(one))));
  }).catch(() => undefined);
}

export async function forgetFiles(ids: readonly number[]): Promise<void> {
  await withStore("readwrite", async (store) => {
    await Promise.all(ids.map((id) => answer(store.delete(id))));
  }).catch(() => undefined);
}

export async function keptFiles(): Promise<Kept[]> {
  return withStore("readonly", (store) => answer(store.getAll() as IDBRequest<Kept[]>)).catch(() => []);
}

/** Forgets all of them, of whoever signs out. */
export async function forgetAllFiles(): Promise<void> {
  await withStore("readwrite", (store) => answer(store.clear())).catch(() => undefined);
}
