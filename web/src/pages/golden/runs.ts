import { request } from "../../api/client";
import { linesOf } from "../ask/lines";
import type { Run } from "./shares";

/** One line of a run that is under way. */
interface RunLine {
  of?: number;
  run?: Run;
  error?: string;
}

/** What one side answers to a golden question. */
export interface ComparedAnswer {
  passed: boolean;
  why: string[];
  answer: string;
  sources: string[];
}

/** A golden question, one of so many, with the answers of a branch and of its origin. */
export interface ComparedAnswers {
  id: string;
  question: string;
  of: number;
  origin: ComparedAnswer;
  branch: ComparedAnswer;
}

/** Asks the golden questions of a branch and of its origin, and hands over both answers to each as they come. */
export async function compareAnswers(workspace: string, branch: string, onAnswers: (answers: ComparedAnswers) => void): Promise<void> {
  const response = await request(`/branches/${encodeURIComponent(branch)}/answers`, workspace, { method: "POST" });
  if (!response.body) return;
  for await (const line of linesOf(response.body) as AsyncGenerator<ComparedAnswers & { error?: string }>) {
    if (line.error) throw new Error(line.error);
    onAnswers(line);
  }
}

/** Asks all golden questions, of a branch where one is named, and tells how many have been asked. Returns the run; undefined where it broke off. */
export async function runAll(workspace: string, onAsked: (n: number, of: number) => void, branch = ""): Promise<Run | undefined> {
  const response = await request("/golden-runs", workspace, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ branch }),
  });
  let count = 0;
  if (response.body)
    for await (const line of linesOf(response.body) as AsyncGenerator<RunLine>) {
      if (line.error) throw new Error(line.error);
      if (line.run) return line.run;
      count += 1;
      onAsked(count, line.of ?? count);
    }
  return undefined;
}
