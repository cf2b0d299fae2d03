export interface FailureOf {
  stage: string;
  reason: string;
}

export interface Cause extends FailureOf {
  count: number;
}

/** What differs from one failure to the next of the same cause: ids, numbers, and what stands in quotes. */
const PARTICULAR = /doc-[\w-]+|\b[0-9a-f]{8,}\b|\d+(?:\.\d+)?|"[^"]*"|'[^']*'|`[^`]*`/g;

/** Counts failures by stage and cause, the most frequent first; the reason shown is the first that came. */
export function byCause(failures: FailureOf[]): Cause[] {
  const causes = new Map<string, Cause>();
  for (const { stage, reason } of failures) {
    const key = `${stage}\n${reason.replace(PARTICULAR, "…")}`;
    const known = causes.get(key);
    if (known) known.count += 1;
    else causes.set(key, { stage, reason, count: 1 });
  }
  return [...causes.values()].sort((one, other) => other.count - one.count);
}
