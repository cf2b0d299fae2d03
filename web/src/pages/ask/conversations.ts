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

/** Whose conversations: an account and a workspace. */
export interface Owner {
  account: string;
  workspace: string;
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

/** The conversations of every account that uses this browser. */
export const conversations = createStore<All>(stored());

export const conversationsOf = (all: All, owner: Owner): readonly SavedConversation[] => all[keyOf(owner)] ?? [];

function write(owner: Owner, change: (of: readonly SavedConversation[]) => SavedConversation[]): void {
  // Other tabs write, too.
  const all = { ...conversations.get(), ...stored() };
  const next = change(conversationsOf(all, owner)).sort((one, other) => other.at - one.at).slice(0, MOST);
  conversations.set({ ...all, [keyOf(owner)]: next });
  try {
    localStorage.setItem(PLACE, JSON.stringify(conversations.get()));
  } catch {
    // A browser may forbid storing, or have no room; then they last as long as the tab.
  }
}

/** Adds a question to a conversation; the first one names it. */
export function keep(owner: Owner, id: string, question: Question, at = Date.now()): void {
  write(owner, (of) => {
    const before = of.find((one) => one.id === id);
    const questions = [...(before?.questions ?? []), question].slice(-MOST_QUESTIONS);
    const name = before?.name ?? question.query.slice(0, NAME_LENGTH);
    return [...of.filter((one) => one.id !== id), { id, name, at, questions }];
  });
}

export function rename(owner: Owner, id: string, name: string): void {
  write(owner, (of) => of.map((one) => (one.id === id ? { ...one, name: name.trim().slice(0, NAME_LENGTH) || one.name } : one)));
}

export function remove(owner: Owner, id: string): void {
  write(owner, (of) => of.filter((one) => one.id !== id));
}

/** Those with all these words in their name or in what was asked. */
export function found(of: readonly SavedConversation[], search: string): SavedConversation[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return of.filter(({ name, questions }) => {
    const text = [name, ...questions.map(({ query }) => query)].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
