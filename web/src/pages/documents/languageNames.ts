import type { Language } from "../../texts";

/** Codes of the languages that the server tells of passages. */
const CODES: Record<string, string> = {
  amharic: "am",
  arabic: "ar",
  armenian: "hy",
  bengali: "bn",
  burmese: "my",
  catalan: "ca",
  chinese: "zh",
  czech: "cs",
  danish: "da",
  dutch: "nl",
  english: "en",
  finnish: "fi",
  french: "fr",
  georgian: "ka",
  german: "de",
  greek: "el",
  gujarati: "gu",
  hebrew: "he",
  hindi: "hi",
  hungarian: "hu",
  italian: "it",
  japanese: "ja",
  kannada: "kn",
  khmer: "km",
  korean: "ko",
  lao: "lo",
  malayalam: "ml",
  norwegian: "no",
  odia: "or",
  persian: "fa",
  polish: "pl",
  portuguese: "pt",
  punjabi: "pa",
  romanian: "ro",
  russian: "ru",
  sinhala: "si",
  spanish: "es",
  swedish: "sv",
  tamil: "ta",
  telugu: "te",
  thai: "th",
  tibetan: "bo",
  turkish: "tr",
  urdu: "ur",
};

/** The name of a language, as `german`, in a language of the page. */
export function languageName(name: string, language: Language): string {
  const code = CODES[name];
  return (code && new Intl.DisplayNames([language], { type: "language" }).of(code)) ?? name;
}
