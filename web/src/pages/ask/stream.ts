import { request, type Schemas } from "../../api/client";
import { type Line, linesOf } from "./lines";

export type Question = Partial<Schemas["QueryRequest"]> & { query: string };
export type Reference = Schemas["Reference"];
export type SearchRound = Schemas["SearchRound"];
export type OutdatedSource = Schemas["OutdatedSource"];
export type OutweighedStatement = Schemas["OutweighedStatement"];

/** Asks a question. The position tells up to when the answer holds all documents, in microseconds since 1970. */
export async function ask(
  question: Question,
  workspace: string,
  signal: AbortSignal,
): Promise<{ position: number; lines: AsyncGenerator<Line> }> {
  const body = { ...question, include_progress: true, include_chunk_content: true, include_chunk_locations: true };
  const response = await request("/query/stream", workspace, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.body) throw new Error("no answer");
  return { position: Number(response.headers.get("X-Log-Position") ?? 0), lines: linesOf(response.body) };
}
