import { useSyncExternalStore } from "react";
import { preferences } from "../shell/preferences";
import type { Texts } from "./en";
import { type Language, LANGUAGES } from "./languages";

export { type Language, LANGUAGES };
export type { Texts };

/** The words of the page in the language that was chosen. */
export function useTexts(): Texts {
  return LANGUAGES[useLanguage()];
}

export function useLanguage(): Language {
  return useSyncExternalStore(preferences.subscribe, () => preferences.get().language);
}
