import type { Document } from "./useDocuments";

/** The tags of a document, which its metadata have with commas between them. */
export const tagsOf = ({ metadata }: Pick<Document, "metadata">): string[] => tagsIn(String(metadata.tags ?? ""));

/** What somebody wrote as tags: each once, in the order written. */
export const tagsIn = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,，、]/)
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
];
