import type { Language } from "../languages";
import { NOTES, SENTENCES } from "./zh";

/** A sentence of the server in a language of the page; undefined where the page has it in English only. */
export function inLanguage(sentence: string, language: Language): string | undefined {
  if (language === "en" || !/[A-Za-z]{3}/.test(sentence)) return sentence;
  const known = SENTENCES.find(([form]) => form.test(sentence));
  return known && sentence.replace(known[0], known[1]);
}

/** An answer with the notes that the server puts into it in the language of the page; what documents say stays. */
export function withNotes(answer: string, language: Language): string {
  if (language === "en") return answer;
  return Object.entries(NOTES).reduce((text, [note, words]) => text.replaceAll(note, words), answer);
}
