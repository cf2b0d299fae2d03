import type { Language } from "../texts/languages";
import { createStore } from "../ui/store";

export type Theme = "light" | "dark" | "system";

export interface Preferences {
  theme: Theme;
  language: Language;
  /** Names of workspaces that were opened here, the newest first. */
  workspaces: string[];
}

const PLACE = "lightstream.preferences";

function stored(): Partial<Preferences> {
  try {
    return JSON.parse(localStorage.getItem(PLACE) ?? "{}") as Partial<Preferences>;
  } catch {
    return {};
  }
}

function initial(): Preferences {
  const language: Language = navigator.language.startsWith("zh") ? "zh" : "en";
  return { theme: "system", language, workspaces: [], ...stored() };
}

/** What somebody chose in this browser. */
export const preferences = createStore<Preferences>(initial());

export function prefer(change: Partial<Preferences>): void {
  preferences.set({ ...preferences.get(), ...change });
  try {
    localStorage.setItem(PLACE, JSON.stringify(preferences.get()));
  } catch {
    // A browser may forbid storing; then the choice lasts as long as the tab.
  }
  show();
}

/** Applies theme and language to the document. */
export function show(): void {
  const { theme, language } = preferences.get();
  const root = document.documentElement;
  root.lang = language === "zh" ? "zh-CN" : "en";
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
}
