import { request } from "../../api/client";
import { linesOf } from "../ask/lines";
import type { Run } from "./shares";

/** One line of a run that is under way. */
interface RunLine {
  of?: number;
  run?: Run;
  error?: string;
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
