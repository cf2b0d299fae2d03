/** What Markdown has around words, each with what is left of it. */
const SIGNS: [RegExp, string][] = [
  [/!?\[([^\]\n]*)\]\([^)\n]*\)?/g, "$1"],
  [/(?:^|\s)#{1,6}(?=\s)/g, " "],
  [/\|(?:\s*:?-{2,}:?\s*\|)+/g, " "],
  [/\s*\|\s*/g, " · "],
  [/```\w*|`|\*\*|__/g, ""],
];

/** The beginning of a text as a line to read: without the signs of Markdown. */
export function plainSummary(summary: string): string {
  const plain = SIGNS.reduce((text, [sign, left]) => text.replace(sign, left), summary);
  return plain.replace(/(?:\s*·)+(?=\s+·)/g, "").replace(/\s+/g, " ").replace(/^[\s·]+|[\s·]+$/g, "");
}
