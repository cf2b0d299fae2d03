import { createStore } from "../ui/store";

/** What a request carries to say who is asking. */
export interface Credentials {
  token?: string;
  key?: string;
  /** Counts the times somebody signed in or out; a renewed token is the same session. */
  session?: number;
}

const PLACE = "lightstream.credentials";

function stored(): Credentials {
  try {
    return JSON.parse(sessionStorage.getItem(PLACE) ?? localStorage.getItem(PLACE) ?? "{}") as Credentials;
  } catch {
    return {};
  }
}

/** The credentials of whoever uses this tab. */
export const credentials = createStore<Credentials>(stored());

/** Why somebody has to sign in again; "" when nobody was signed in. */
export const signedOutBecause = createStore<"" | "expired">("");

/** A user's token is kept in the browser, for it ends by itself; an API key in this tab only. */
export function keep(given: Credentials): void {
  const session = (credentials.get().session ?? 0) + 1;
  store({ ...given, session });
}

/** Takes the new token that an answer brought in the second half of the old one's life. */
export function renew(token: string): void {
  store({ ...credentials.get(), token });
}

function store(given: Credentials): void {
  credentials.set(given);
  signedOutBecause.set("");
  try {
    sessionStorage.removeItem(PLACE);
    localStorage.removeItem(PLACE);
    if (given.key) sessionStorage.setItem(PLACE, JSON.stringify(given));
    else if (given.token) localStorage.setItem(PLACE, JSON.stringify(given));
  } catch {
    // A browser may forbid storing; then the sign-in lasts as long as the tab.
  }
}

const leaving = new Set<() => void>();

/** Calls the listener when somebody signs out themselves; who must only sign in again finds everything as it was. */
export function onSignOut(listener: () => void): void {
  leaving.add(listener);
}

export function signOut(reason: "" | "expired" = ""): void {
  keep({});
  if (!reason) for (const listener of leaving) listener();
  signedOutBecause.set(reason);
}

export function credentialHeaders(): Record<string, string> {
  const { token, key } = credentials.get();
  if (key) return { "X-API-Key": key };
  return token ? { Authorization: `Bearer ${token}` } : {};
}
