import type { Language } from "../../texts";

/** Codes of the languages that the server tells of passages. */
const CODES: Record<string, string> = {
  arabic: "ar",
  catalan: "ca",
  chinese: "zh",
  czech: "cs",
  danish: "da",
  dutch: "nl",
  english: "en",
  finnish: "fi",
  french: "fr",
  german: "de",
  greek: "el",
  hungarian: "hu",
  italian: "it",
  japanese: "ja",
  norwegian: "no",
  polish: "pl",
  portuguese: "pt",
  romanian: "ro",
  russian: "ru",
  spanish: "es",
  swedish: "sv",
  turkish: "tr",
};

/** The name of a language, as `german`, in a language of the page. */
export function languageName(name: string, language: Language): string {
  const code = CODES[name];
  return (code && new Intl.DisplayNames([language], { type: "language" }).of(code)) ?? name;
}
