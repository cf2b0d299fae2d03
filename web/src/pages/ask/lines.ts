import type { Schemas } from "../../api/client";

/** One line of a streamed answer. */
export interface Line {
  progress?: string;
  /** Of the step `using_tool`: the tool, and what with. */
  detail?: string;
  /** What a question with more than low effort did. */
  rounds?: Schemas["SearchRound"][];
  response?: string;
  references?: Schemas["Reference"][];
  /** The sources that are not in force, if any. */
  outdated_sources?: Schemas["OutdatedSource"][];
  /** What sources say and others of greater authority contradict, if anything. */
  outweighed_statements?: Schemas["OutweighedStatement"][];
  llm_generated?: boolean;
  response_time?: number;
  /** The mode that `auto` chose, and why. */
  mode?: string;
  mode_reason?: string;
  /** The model ended before the answer's end. */
  truncated?: boolean;
  /** The model read only a part of its prompt. */
  prompt_truncated?: boolean;
  /** All text before this line was reasoning. */
  reset?: boolean;
  /** The id of the answer's receipt, where answers are recorded. */
  receipt?: string;
  error?: string;
}

/** Cuts a stream of bytes into lines of JSON; a line may come in several pieces. */
export async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    rest += value ?? "";
    const lines = rest.split("\n");
    rest = done ? "" : (lines.pop() ?? "");
    for (const line of lines) if (line.trim()) yield JSON.parse(line) as Line;
    if (done) return;
  }
}
