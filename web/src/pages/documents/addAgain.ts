import { type Api, ApiError, data } from "../../api/client";

/** Adds deleted documents again with the texts that they had, all in one request. Fails with the first reason where one cannot be. */
export async function addAgain(api: Api, ids: readonly string[]): Promise<void> {
  const { left } = data(await api.POST("/operations/undo_events", { body: { sequences: [], documents: [...ids], reason: "", dry_run: false } }));
  const [first] = left;
  if (first) throw new ApiError(409, first.reason);
}
