import { onSignOut } from "../../api/session";
import { createStore } from "../../ui/store";
import { linkCitations, renumbered } from "./citations";
import type { Line } from "./lines";
import { ask, type OutdatedSource, type OutweighedStatement, type Question, type Reference, type SearchRound } from "./stream";

export interface Turn {
  id: number;
  workspace: string;
  question: Question;
  answer: string;
  references: Reference[];
  /** Those that are not in force; missing in turns that were kept before there was this. */
  outdated?: OutdatedSource[];
  outweighed?: OutweighedStatement[];
  /** `unasked`: of a conversation that was taken up again; its question may be asked once more. */
  state: "asking" | "done" | "stopped" | "failed" | "unasked";
  /** The step that is going on, while there is no answer yet. */
  step: string;
  /** What a tool is used with in that step; absent in what an older page kept. */
  detail?: string;
  /** What a question with more than low effort did; absent in what an older page kept. */
  rounds?: SearchRound[];
  error: unknown;
  seconds: number;
  byModel: boolean;
  /** Whether the model ended before the answer's end. */
  truncated: boolean;
  promptTruncated: boolean;
  /** The mode that `auto` chose, and why; "" where it did not choose. */
  mode: string;
  modeReason: string;
  position: number;
  /** The id of its receipt; "" where answers are not recorded. Absent in what an older page kept. */
  receipt?: string;
  /** The same for two that are asked side by side; 0 for one alone. */
  pair: number;
}

const PLACE = "lightstream.conversation";

/** Turns that outlive the page in this tab. */
const KEPT = 50;

/** What was said before the page was loaded anew; what was being said then was cut off. */
function remembered(): Turn[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PLACE) ?? "[]") as Turn[];
    return kept.map((turn) => (turn.state === "asking" ? { ...turn, state: "stopped" } : turn));
  } catch {
    return [];
  }
}

/** What was asked in this tab, over all workspaces; it stays while one looks at other pages. */
export const turns = createStore<Turn[]>(remembered());

let writing: ReturnType<typeof setTimeout> | undefined;
turns.subscribe(() => {
  writing ??= setTimeout(() => {
    writing = undefined;
    try {
      sessionStorage.setItem(PLACE, JSON.stringify(turns.get().slice(-KEPT)));
    } catch {
      // A browser may forbid storing, or have no room; then a conversation ends with its page.
    }
  }, 300);
});
onSignOut(() => turns.set([]));

const running = new Map<number, AbortController>();
let lastId = Math.max(0, ...turns.get().map(({ id }) => id));

/** Turns that a model is told of, so that a question may refer to the one before. */
const REMEMBERED = 6;

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

/** Asks the same in two ways at once, to be read side by side. */
export async function beginTwo(one: Question, other: Question, workspace: string): Promise<void> {
  const pair = lastId + 1;
  await Promise.all([begin(one, workspace, pair), begin(other, workspace, pair)]);
}

/** Turns as they are shown: those of one pair together. */
export function sideBySide(all: Turn[]): Turn[][] {
  const rows: Turn[][] = [];
  for (const turn of all) {
    const row = turn.pair ? rows.find((earlier) => earlier[0]?.pair === turn.pair) : undefined;
    if (row) row.push(turn);
    else rows.push([turn]);
  }
  return rows;
}

function newTurn(id: number, workspace: string, question: Question, pair = 0): Turn {
  return { id, workspace, question, answer: "", references: [], state: "asking", step: "", error: null, seconds: 0, byModel: true, truncated: false, promptTruncated: false, mode: "", modeReason: "", position: 0, pair };
}

/** Shows the questions of an earlier conversation in place of what was said. */
export function takeUp(questions: readonly Question[], workspace: string): void {
  forget(workspace);
  const earlier = questions.map((question): Turn => {
    lastId += 1;
    return { ...newTurn(lastId, workspace, question), state: "unasked" };
  });
  turns.set([...turns.get(), ...earlier]);
}

/** The step that a line tells of, and the rounds that led to the answer. */
function progressOf(line: Line, turn: Turn): Partial<Turn> {
  const rounds = line.rounds ?? turn.rounds ?? [];
  return line.progress ? { step: line.progress, detail: line.detail ?? "", rounds } : { rounds };
}

export async function begin(asked: Question, workspace: string, pair = 0): Promise<void> {
  const said = history(workspace);
  const question = said?.length ? { ...asked, conversation_history: said } : asked;
  lastId += 1;
  const id = lastId;
  turns.set([...turns.get(), newTurn(id, workspace, asked, pair)]);
  const control = new AbortController();
  running.set(id, control);
  const started = performance.now();
  try {
    const { position, lines } = await ask(question, workspace, control.signal);
    change(id, () => ({ position }));
    for await (const line of lines) {
      if (line.error) throw new Error(line.error);
      change(id, (turn) => ({
        answer: (line.reset ? "" : turn.answer) + (line.response ?? ""),
        references: line.references ?? turn.references,
        outdated: line.outdated_sources ?? turn.outdated ?? [],
        outweighed: line.outweighed_statements ?? turn.outweighed ?? [],
        ...progressOf(line, turn),
        receipt: line.receipt ?? turn.receipt ?? "",
        byModel: line.llm_generated ?? turn.byModel,
        truncated: line.truncated ?? turn.truncated,
        mode: line.mode ?? turn.mode,
        modeReason: line.mode_reason ?? turn.modeReason,
        promptTruncated: line.prompt_truncated ?? turn.promptTruncated,
      }));
    }
    change(id, () => ({ state: "done" }));
  } catch (error) {
    if (control.signal.aborted) change(id, () => ({ state: "stopped" }));
    else change(id, () => ({ state: "failed", error }));
  } finally {
    running.delete(id);
    change(id, () => ({ seconds: (performance.now() - started) / 1000 }));
  }
}

/** Asks what failed once more, in its place. */
export function again({ id, question, workspace }: Turn): void {
  turns.set(turns.get().filter((turn) => turn.id !== id));
  void begin(question, workspace);
}

const NEWER = new Set(["DocumentAdded", "DocumentDeleted", "GraphEdited"]);

/** How many of these events say something that an answer of this position does not hold yet. */
export function changesSince(events: { type: string; time: string }[], position: number): number {
  return events.filter(({ type, time }) => NEWER.has(type) && Date.parse(time) > position / 1000).length;
}

export function stop(id: number): void {
  running.get(id)?.abort();
}

export function forget(workspace: string): void {
  turns.set(turns.get().filter((turn) => turn.workspace !== workspace || turn.state === "asking"));
}

/** The answer with its sources, as it can be put into another document. */
export function asMarkdown({ question, answer, references }: Turn): string {
  const ids = references.map(({ reference_id }) => reference_id);
  const { numbers } = linkCitations(answer, ids);
  const files = new Map(references.map(({ reference_id, file_path }) => [reference_id, file_path]));
  const sources = [...numbers].map(([id, number]) => `- [${number}] ${files.get(id)}`);
  return [`**${question.query}**`, "", renumbered(answer, ids), ...(sources.length ? ["", ...sources] : [])].join("\n");
}
