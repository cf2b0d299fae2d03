import Markdown from "react-markdown";
import gfm from "remark-gfm";
import { useLanguage, useTexts } from "../../texts";
import { withNotes } from "../../texts/server";
import { PROSE, TextLink } from "../../ui/Prose";
import { CITATION, citationOf, type CitedAnswer } from "./citations";
import type { Reference } from "./stream";

/** A reference, and what it is cited for. */
export interface Citation {
  id: string;
  claim: string;
}

type AnswerTextProps = { answer: CitedAnswer; references: Reference[]; onCite: (citation: Citation) => void };

/** An answer as Markdown. HTML in it is shown as text, and nothing is loaded from anywhere. */
export function AnswerText({ answer, references, onCite }: AnswerTextProps) {
  const texts = useTexts();
  const language = useLanguage();
  const files = new Map(references.map((reference) => [reference.reference_id, reference.file_path]));
  return (
    <div className="prose">
      <Markdown
        remarkPlugins={[gfm]}
        components={{
          ...PROSE,
          a({ href = "", children }) {
            if (!href.startsWith(CITATION)) return <TextLink href={href}>{children}</TextLink>;
            const { id, claim } = citationOf(href);
            const number = String(answer.numbers.get(id) ?? id);
            const file = files.get(id) ?? "";
            return (
              <button
                type="button"
                className="cite"
                title={file}
                aria-label={texts.ask.source(number, file)}
                onClick={() => onCite({ id, claim: answer.claims[claim] ?? "" })}
              >
                {number}
              </button>
            );
          },
        }}
      >
        {withNotes(answer.markdown, language)}
      </Markdown>
    </div>
  );
}
