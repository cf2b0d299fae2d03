import { createStore } from "../../ui/store";
import type { Question } from "./stream";

/** What was asked in one conversation. Answers are not kept: what they quote may be erased, or hidden from who asked. */
export interface SavedConversation {
  id: string;
  name: string;
  /** When something was asked in it last, in milliseconds. */
  at: number;
  questions: Question[];
}

/** What keeps the conversations of an account on the server. */
export interface Remote {
  put: (saved: SavedConversation) => Promise<unknown>;
  remove: (id: string) => Promise<unknown>;
}

/** Whose conversations: an account and a workspace. Without a `remote`, as for guests, the browser keeps them. */
export interface Owner {
  account: string;
  workspace: string;
  remote?: Remote | undefined;
}

type All = Record<string, SavedConversation[]>;

const PLACE = "lightstream.conversations";
/** The most that are kept of an account in a workspace, and questions of each. */
const MOST = 100;
const MOST_QUESTIONS = 100;
const NAME_LENGTH = 80;

const keyOf = ({ account, workspace }: Owner) => `${account}\n${workspace}`;

function stored(): All {
  try {
    return JSON.parse(localStorage.getItem(PLACE) ?? "{}") as All;
  } catch {
    return {};
  }
}

/** The conversations of every account that uses this browser, as far as they are known here. */
export const conversations = createStore<All>(stored());

export const conversationsOf = (all: All, owner: Owner): readonly SavedConversation[] => all[keyOf(owner)] ?? [];

const newestFirst = (of: readonly SavedConversation[]) => [...of].sort((one, other) => other.at - one.at).slice(0, MOST);

/** Keeps conversations of an owner in this browser; an empty list removes them. */
function store(owner: Owner, of: readonly SavedConversation[]): void {
  const others = Object.entries(stored()).filter(([key]) => key !== keyOf(owner));
  try {
    localStorage.setItem(PLACE, JSON.stringify(Object.fromEntries(of.length > 0 ? [...others, [keyOf(owner), of]] : others)));
  } catch {
    // A browser may forbid storing, or have no room; then they last as long as the tab.
  }
}

/** Tells the server of one that was changed or removed; what does not reach it waits in the browser. */
function send(owner: Owner, remote: Remote, id: string, saved: SavedConversation | undefined): void {
  const sent = saved ? remote.put(saved) : remote.remove(id);
  sent.catch(() => {
    const others = conversationsOf(stored(), owner).filter((one) => one.id !== id);
    if (saved) store(owner, newestFirst([...others, saved]));
  });
}

function write(owner: Owner, id: string, change: (of: readonly SavedConversation[]) => SavedConversation[]): void {
  // Other tabs write, too.
  const all = owner.remote ? conversations.get() : { ...conversations.get(), ...stored() };
  const next = newestFirst(change(conversationsOf(all, owner)));
  conversations.set({ ...all, [keyOf(owner)]: next });
  if (owner.remote) send(owner, owner.remote, id, next.find((one) => one.id === id));
  else store(owner, next);
}

/** Takes over what the server has of an owner, and gives it what this browser alone has. */
export function adopt(owner: Owner, known: readonly SavedConversation[]): void {
  const { remote } = owner;
  if (!remote) return;
  const own = conversationsOf(stored(), owner).filter(({ id, at }) => !known.some((one) => one.id === id && one.at >= at));
  const others = known.filter(({ id }) => !own.some((one) => one.id === id));
  store(owner, []);
  conversations.set({ ...conversations.get(), [keyOf(owner)]: newestFirst([...others, ...own]) });
  for (const saved of own) send(owner, remote, saved.id, saved);
}

/** Adds a question to a conversation; the first one names it. */
export function keep(owner: Owner, id: string, question: Question, at = Date.now()): void {
  write(owner, id, (of) => {
    const before = of.find((one) => one.id === id);
    const questions = [...(before?.questions ?? []), question].slice(-MOST_QUESTIONS);
    const name = before?.name ?? question.query.slice(0, NAME_LENGTH);
    return [...of.filter((one) => one.id !== id), { id, name, at, questions }];
  });
}

export function rename(owner: Owner, id: string, name: string): void {
  write(owner, id, (of) => of.map((one) => (one.id === id ? { ...one, name: name.trim().slice(0, NAME_LENGTH) || one.name } : one)));
}

export function remove(owner: Owner, id: string): void {
  write(owner, id, (of) => of.filter((one) => one.id !== id));
}

/** Those with all these words in their name or in what was asked. */
export function found(of: readonly SavedConversation[], search: string): SavedConversation[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return of.filter(({ name, questions }) => {
    const text = [name, ...questions.map(({ query }) => query)].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
