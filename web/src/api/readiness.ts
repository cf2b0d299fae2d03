import { BASE } from "./client";
import { credentialHeaders } from "./session";

export interface Readiness {
  problems: Record<string, string>;
  notes: Record<string, string>;
}

/** What the query service says of itself and its stores; with code 503 when it is not ready, which is an answer too. */
export async function readiness(): Promise<Readiness> {
  const response = await fetch(`${BASE}/health/ready`, { headers: credentialHeaders() });
  const body = (await response.json()) as Partial<Readiness>;
  return { problems: body.problems ?? {}, notes: body.notes ?? {} };
}
