import { useLanguage } from "../texts";
import { inLanguage } from "../texts/server";

/** A sentence that the server made, in the language of the page; where it has none for it, in English and marked as that. */
export function ServerText({ text }: { text: string }) {
  const words = inLanguage(text, useLanguage());
  if (words !== undefined) return <>{words}</>;
  return (
    <span lang="en" className="in-english">
      {text}
    </span>
  );
}
