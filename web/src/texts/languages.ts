import { en } from "./en";
import { zh } from "./zh";

export const LANGUAGES = { en, zh } as const;
export type Language = keyof typeof LANGUAGES;
