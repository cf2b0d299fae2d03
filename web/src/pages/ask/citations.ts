const CODE = /(```[\s\S]*?(?:```|$)|`[^`\n]*`)/;
const CITED = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()/g;

export const CITATION = "#cite-";

/** Makes a link of each number in brackets that names a reference; what is code stays as it is. */
export function linkCitations(answer: string, known: ReadonlySet<string>): string {
  return answer
    .split(CODE)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replace(CITED, (whole: string, numbers: string) => {
            const ids = numbers.split(",").map((number) => number.trim());
            return ids.every((id) => known.has(id)) ? ids.map((id) => `[${id}](${CITATION}${id})`).join(" ") : whole;
          }),
    )
    .join("");
}
