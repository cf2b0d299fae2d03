/** Finds in a passage the sentences that an answer cites it for. */

/** A part of a text, in its characters. */
export interface Range {
  start: number;
  end: number;
}

/** How much of their words two sentences must share, 0 to 1: the one that is cited, and those before it. */
const ENOUGH = 0.35;
const NEARLY_EQUAL = 0.75;

/** A line break that ends no sentence: in front of neither a blank line, an item of a list, a row nor a heading. */
const WRAP = /\n(?!\s*(?:\n|[-*+|#>]|\d+[.)]\s|$))/g;
const ABBREVIATION = /(?:^|[\s(])(?:\p{Lu}|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|vs|e\.g|i\.e|approx)\.\s*$/u;

const SENTENCES = new Intl.Segmenter(undefined, { granularity: "sentence" });
const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });

export function sentencesOf(text: string): Range[] {
  const ranges: Range[] = [];
  let start = 0;
  for (const { segment, index } of SENTENCES.segment(text.replace(WRAP, " "))) {
    const end = index + segment.length;
    if (ABBREVIATION.test(segment) && end < text.length) continue;
    const trimmed = text.slice(start, end).trimEnd();
    const begin = start + (trimmed.length - trimmed.trimStart().length);
    if (/[\p{L}\p{N}]/u.test(trimmed)) ranges.push({ start: begin, end: start + trimmed.length });
    start = end;
  }
  return ranges;
}

function wordsOf(text: string): Set<string> {
  const words = [...WORDS.segment(text)].filter(({ isWordLike }) => isWordLike);
  return new Set(words.map(({ segment }) => segment.toLowerCase()));
}

interface Sentence extends Range {
  passage: number;
  words: Set<string>;
}

/** Compares two sets of words; one that many sentences have counts little. */
function likeness(one: Set<string>, other: Set<string>, weight: (word: string) => number): number {
  const sum = (words: Iterable<string>) => [...words].reduce((total, word) => total + weight(word), 0);
  return (2 * sum([...one].filter((word) => other.has(word)))) / (sum(one) + sum(other) || 1);
}

/** The parts of each passage that say what is claimed; none where no sentence comes near it. */
export function citedParts(claim: string, passages: readonly string[]): Range[][] {
  const all: Sentence[] = passages.flatMap((text, passage) =>
    sentencesOf(text).map((range) => ({ ...range, passage, words: wordsOf(text.slice(range.start, range.end)) })),
  );
  const count = new Map<string, number>();
  for (const { words } of all) for (const word of words) count.set(word, (count.get(word) ?? 0) + 1);
  const weight = (word: string) => Math.log(1 + all.length / (count.get(word) ?? 1));
  const cited = new Set<Sentence>();
  const claims = sentencesOf(claim);
  claims.forEach(({ start, end }, index) => {
    const words = wordsOf(claim.slice(start, end));
    const scored = all.map((sentence) => ({ sentence, score: likeness(words, sentence.words, weight) }));
    const best = scored.reduce((one, other) => (other.score > one.score ? other : one), { sentence: undefined as Sentence | undefined, score: 0 });
    if (best.sentence && best.score >= (index === claims.length - 1 ? ENOUGH : NEARLY_EQUAL)) cited.add(best.sentence);
  });
  return passages.map((_, passage) => [...cited].filter((one) => one.passage === passage).sort((one, other) => one.start - other.start));
}

/** Parts as an address holds them, and back: `12-80,90-120`. */
export const toAddress = (parts: readonly Range[]) => parts.map(({ start, end }) => `${start}-${end}`).join(",");

export function fromAddress(text: string): Range[] {
  return [...text.matchAll(/(\d+)-(\d+)/g)].map(([, start, end]) => ({ start: Number(start), end: Number(end) }));
}

/** Where in a passage its first cited sentence begins, in characters as people count them. */
export const citedOffset = (passage: string, ranges: readonly Range[]) => [...passage.slice(0, ranges[0]?.start ?? 0)].length;

/** Parts of a passage as parts of the document's text, in characters as people count them, for an address. */
export function inText({ content, start }: { content: string; start: number | null }, parts: readonly Range[]): string {
  const characters = (index: number) => (start ?? 0) + [...content.slice(0, index)].length;
  return toAddress(parts.map((part) => ({ start: characters(part.start), end: characters(part.end) })));
}

interface Pages {
  page: number | null;
  page_breaks?: readonly number[];
}

/** The page on which what stands at a character of a passage begins; null in documents without pages. */
export const pageAt = ({ page, page_breaks: breaks = [] }: Pages, offset: number) =>
  page === null ? null : page + breaks.filter((begin) => begin <= offset).length;
