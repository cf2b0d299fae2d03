import { useSyncExternalStore } from "react";
import { preferences } from "../shell/preferences";
import { en, type Texts } from "./en";
import { zh } from "./zh";

export const LANGUAGES = { en, zh } as const;
export type Language = keyof typeof LANGUAGES;
export type { Texts };

/** The words of the page in the language that was chosen. */
export function useTexts(): Texts {
  return LANGUAGES[useLanguage()];
}

export function useLanguage(): Language {
  return useSyncExternalStore(preferences.subscribe, () => preferences.get().language);
}
