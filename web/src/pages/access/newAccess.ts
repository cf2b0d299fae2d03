import { createStore } from "../../ui/store";

/** Who may see what is added. */
export interface NewAccess {
  allow: string[];
  deny: string[];
}

/** By workspace, what was chosen in this tab; nothing: everyone, or for a new text whoever saw the document before. */
export const newAccess = createStore<Readonly<Record<string, NewAccess>>>({});

/** The principals that somebody wrote, with commas or blanks between them. */
export const principalsIn = (written: string) => written.split(/[\s,]+/).filter(Boolean);

/** Chooses who sees what is added from now on; without principals it is everyone. */
export function chooseNewAccess(workspace: string, { allow, deny }: NewAccess): void {
  const others = Object.fromEntries(Object.entries(newAccess.get()).filter(([name]) => name !== workspace));
  const isOpen = (allow.length === 0 || allow.join() === "everyone") && deny.length === 0;
  newAccess.set(isOpen ? others : { ...others, [workspace]: { allow: allow.length === 0 ? ["everyone"] : allow, deny } });
}
