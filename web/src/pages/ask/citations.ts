const CODE = /(```[\s\S]*?(?:```|$)|`[^`\n]*`)/;
const CITED = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()/g;
const CITATIONS = /((?:\[\d{1,3}(?:\s*,\s*\d{1,3})*\](?!\()[ \t]*)+)/;

/** What an item of a list begins with. */
const MARKER = /^\s*(?:[-*+]|\d+[.)])\s+/;

/** Letters that two sentences must have to be taken for the same. */
const LEAST = 12;

export const CITATION = "#cite-";

export interface CitedAnswer {
  /** The answer as Markdown, in which each citation is a link. */
  markdown: string;
  /** What stands before each of these links: what the source is cited for. */
  claims: string[];
  /** The number that is shown for a reference: 1, 2, 3 as they appear, then those that are not cited. */
  numbers: ReadonlyMap<string, number>;
}

/** The reference and the claim that such a link stands for. */
export function citationOf(href: string): { id: string; claim: number } {
  const [id = "", claim = ""] = href.slice(CITATION.length).split("-");
  return { id, claim: Number(claim) };
}

const idsIn = (numbers: string) => numbers.split(",").map((number) => number.trim());

/** Calls `change` with what is prose; what is code stays as it is. */
function inProse(answer: string, change: (part: string) => string): string {
  return answer
    .split(CODE)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join("");
}

/** Whether a text ends a sentence, with its citations behind or in front of the full stop; a source that is named within one does not. */
const isSentence = (text: string, following = "") => /[.!?。！？]\s*$/.test(text) || /^\s*(?:$|[.!?;。！？；])/.test(following);

/** Makes one of sentences that are said more than once, with the citations of all of them. */
export function foldEqual(answer: string): string {
  const said = new Map<string, { citations: string[] }>();
  const kept = answer.split(CODE).map((part, index) => {
    if (index % 2 === 1) return [part];
    return part.split("\n").map((line, place) => {
      // Behind inline code goes the rest of its line, which stays.
      const isWhole = place > 0 || index === 0;
      const pieces = line.split(CITATIONS);
      const units = pieces.flatMap((text, at) => (at % 2 === 0 ? [{ text, citations: pieces.slice(at + 1, at + 2), isSentence: isSentence(text, pieces[at + 2]) }] : []));
      const left = units.filter((unit) => {
        const words = unit.text.replace(MARKER, "").replace(/^[\s.,;:!?。，；：！？]+|[\s.,;:!?。，；：！？]+$/g, "").toLowerCase();
        if (unit.citations.length === 0 || !unit.isSentence || words.length < LEAST) return true;
        const earlier = said.get(words);
        if (!earlier) said.set(words, unit);
        else earlier.citations.push(...unit.citations);
        return !earlier;
      });
      const isEmpty = left.every(({ text }) => !text.replace(MARKER, "").replace(/[\s.。]/g, ""));
      return isWhole && isEmpty && left.length < units.length ? null : left;
    });
  });
  // Citations of later sentences are known when all are read.
  return kept
    .map((part) =>
      part
        .filter((line) => line !== null)
        .map((line) => (typeof line === "string" ? line : line.map(({ text, citations }) => text + joined(citations)).join("")))
        .join("\n"),
    )
    .join("");
}

/** Citations of equal sentences one behind the other, each once, with the blank that the last had behind it. */
function joined(citations: string[]): string {
  if (citations.length < 2) return citations.join("");
  const ids = [...new Set(citations.flatMap((text) => [...text.matchAll(CITED)].flatMap(([, numbers = ""]) => idsIn(numbers))))];
  return ids.map((id) => `[${id}]`).join(" ") + (/\s*$/.exec(citations[0] ?? "")?.[0] ?? "");
}

/** Makes a link of each number in brackets that names a reference; what is code stays as it is. */
export function linkCitations(answer: string, known: readonly string[]): CitedAnswer {
  const ids = new Set(known);
  const numbers = new Map<string, number>();
  const claims: string[] = [];
  const numberOf = (id: string) => {
    if (!numbers.has(id)) numbers.set(id, numbers.size + 1);
    return numbers.get(id);
  };
  const markdown = inProse(foldEqual(answer), (part) => {
    let end = 0;
    return part.replace(CITED, (whole: string, inside: string, at: number) => {
      const cited = idsIn(inside);
      if (!cited.every((id) => ids.has(id))) return whole;
      const said = part.slice(end, at).split(/\n\s*\n/).at(-1) ?? "";
      // One behind another is cited for the same.
      if (/[\p{L}\p{N}]/u.test(said) || claims.length === 0) claims.push(said.trim());
      end = at + whole.length;
      return cited.map((id) => `[${numberOf(id)}](${CITATION}${id}-${claims.length - 1})`).join(" ");
    });
  });
  for (const id of known) numberOf(id);
  return { markdown, claims, numbers };
}

/** The answer with the numbers that are shown for its references. */
export function renumbered(answer: string, known: readonly string[]): string {
  const { numbers } = linkCitations(answer, known);
  return inProse(foldEqual(answer), (part) =>
    part.replace(CITED, (whole: string, inside: string) => {
      const cited = idsIn(inside).map((id) => numbers.get(id));
      return cited.every((number) => number !== undefined) ? `[${cited.join(", ")}]` : whole;
    }),
  );
}
