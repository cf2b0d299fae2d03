import createClient, { type Middleware } from "openapi-fetch";
import { useMemo } from "react";
import { useParams } from "react-router";
import { answered, connected } from "./connection";
import type { components, paths } from "./schema";
import { credentialHeaders, credentials, renew, signOut } from "./session";

export type Schemas = components["schemas"];

/** An answer that is no success, in the server's own words. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The address of the API: the page is one folder below it, wherever a proxy puts both. */
export const BASE = new URL("..", document.baseURI).href.replace(/\/$/, "");

/** Milliseconds between two looks whether a lost connection is back: nothing else may be asking. */
const LOOK = 2_000;
let looking = false;

// A stream that is open hears nothing of a lost connection for a while; the browser says so at once.
if (typeof window !== "undefined") window.addEventListener("offline", () => answered(false));

connected.subscribe(() => {
  if (connected.get() || looking) return;
  looking = true;
  void (async () => {
    while (!connected.get()) {
      await new Promise((resolve) => setTimeout(resolve, LOOK));
      await fetch(`${BASE}/auth-status`, { cache: "no-store" }).then(() => answered(true)).catch(() => undefined);
    }
    looking = false;
  })();
});

/** Reads what the server says about an error; its forms differ by route. */
export function sentence(body: unknown, fallback: string): string {
  const detail =
    (body as { detail?: unknown } | null)?.detail ?? (body as { message?: unknown } | null)?.message;
  if (typeof detail === "string") return detail;
  if (Array.isArray(detail)) {
    const faults = detail as { msg?: string; loc?: unknown[] }[];
    return (
      faults
        .map((fault) => fault.msg ?? "")
        .filter(Boolean)
        .join("; ") || fallback
    );
  }
  return fallback;
}

/** Reads credentials and connection from an answer, whichever way it was asked for. */
export function heard(response: Response): Response {
  answered(true);
  const renewed = response.headers.get("X-New-Token");
  if (renewed && credentials.get().token) renew(renewed);
  if (response.status === 401 && credentials.get().token) signOut("expired");
  return response;
}

const everyRequest: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(credentialHeaders())) request.headers.set(name, value);
    return request;
  },
  async onResponse({ response }) {
    heard(response);
    if (response.ok) return response;
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => null);
    throw new ApiError(response.status, sentence(body, `${response.status} ${response.statusText}`));
  },
  onError({ error }) {
    // What the page itself gave up says nothing of the connection.
    if ((error as Error).name !== "AbortError") answered(false);
    return error as Error;
  },
};

export type Api = ReturnType<typeof createClient<paths>>;

/** The API, asked about one workspace; without a name about the caller's default one. */
export function api(workspace = ""): Api {
  const headers = workspace ? { "X-Workspace": workspace } : {};
  const client = createClient<paths>({ baseUrl: BASE, headers });
  client.use(everyRequest);
  return client;
}

/** The workspace that the address names. */
export function useWorkspace(): string {
  return useParams().workspace ?? "";
}

export function useApi(): Api {
  const workspace = useWorkspace();
  return useMemo(() => api(workspace), [workspace]);
}

/** Asks a route that streams or uploads, which the typed client cannot. Raises ApiError. */
export async function request(path: string, workspace: string, init: RequestInit = {}): Promise<Response> {
  const headers = {
    ...credentialHeaders(),
    "X-Workspace": workspace,
    ...(init.headers as Record<string, string>),
  };
  let response: Response;
  try {
    response = await fetch(`${BASE}${path}`, { ...init, headers });
  } catch (error) {
    if ((error as Error).name !== "AbortError") answered(false);
    throw error;
  }
  heard(response);
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => null);
  throw new ApiError(response.status, sentence(body, `${response.status} ${response.statusText}`));
}

/** The data of an answer, which is there because errors are raised. */
export function data<T>(answer: { data?: T }): T {
  return answer.data as T;
}
