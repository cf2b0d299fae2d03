import { createStore } from "../../ui/store";
import { ask, type Question, type Reference } from "./stream";

export interface Turn {
  id: number;
  workspace: string;
  question: Question;
  answer: string;
  references: Reference[];
  state: "asking" | "done" | "stopped" | "failed";
  /** The step that is going on, while there is no answer yet. */
  step: string;
  error: string;
  seconds: number;
  byModel: boolean;
  position: number;
}

/** What was asked in this tab, over all workspaces; it stays while one looks at other pages. */
export const turns = createStore<Turn[]>([]);

const running = new Map<number, AbortController>();
let lastId = 0;

const REMEMBERED = 6;
/** Turns that a model is told of, so that a question may refer to the one before. */

function change(id: number, values: (turn: Turn) => Partial<Turn>): void {
  turns.set(turns.get().map((turn) => (turn.id === id ? { ...turn, ...values(turn) } : turn)));
}

function history(workspace: string): Question["conversation_history"] {
  const said = turns.get().filter((turn) => turn.workspace === workspace && turn.state === "done" && turn.byModel);
  return said.slice(-REMEMBERED).flatMap(({ question, answer }) => [
    { role: "user" as const, content: question.query },
    { role: "assistant" as const, content: answer.slice(0, 30_000) },
  ]);
}

export async function begin(asked: Question, workspace: string): Promise<void> {
  const said = history(workspace);
  const question = said?.length ? { ...asked, conversation_history: said } : asked;
  lastId += 1;
  const id = lastId;
  const turn: Turn = { id, workspace, question: asked, answer: "", references: [], state: "asking", step: "", error: "", seconds: 0, byModel: true, position: 0 };
  turns.set([...turns.get(), turn]);
  const control = new AbortController();
  running.set(id, control);
  const started = performance.now();
  try {
    const { position, lines } = await ask(question, workspace, control.signal);
    change(id, () => ({ position }));
    for await (const line of lines) {
      if (line.error) throw new Error(line.error);
      change(id, (turn) => ({
        answer: turn.answer + (line.response ?? ""),
        references: line.references ?? turn.references,
        step: line.progress ?? turn.step,
        byModel: line.llm_generated ?? turn.byModel,
      }));
    }
    change(id, () => ({ state: "done" }));
  } catch (error) {
    if (control.signal.aborted) change(id, () => ({ state: "stopped" }));
    else change(id, () => ({ state: "failed", error: (error as Error).message }));
  } finally {
    running.delete(id);
    change(id, () => ({ seconds: (performance.now() - started) / 1000 }));
  }
}

export function stop(id: number): void {
  running.get(id)?.abort();
}

export function forget(workspace: string): void {
  turns.set(turns.get().filter((turn) => turn.workspace !== workspace || turn.state === "asking"));
}

/** The answer with its sources, as it can be put into another document. */
export function asMarkdown({ question, answer, references }: Turn): string {
  const sources = references.map((reference) => `- [${reference.reference_id}] ${reference.file_path}`);
  return [`**${question.query}**`, "", answer, ...(sources.length ? ["", ...sources] : [])].join("\n");
}
