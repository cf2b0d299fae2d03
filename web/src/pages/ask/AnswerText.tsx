import Markdown from "react-markdown";
import gfm from "remark-gfm";
import { useTexts } from "../../texts";
import { CITATION, linkCitations } from "./citations";
import type { Reference } from "./stream";

type AnswerTextProps = { answer: string; references: Reference[]; onCite: (id: string) => void };

/** An answer as Markdown. HTML in it is shown as text, and nothing is loaded from anywhere. */
export function AnswerText({ answer, references, onCite }: AnswerTextProps) {
  const texts = useTexts();
  const known = new Map(references.map((reference) => [reference.reference_id, reference.file_path]));
  return (
    <div className="prose">
      <Markdown
        remarkPlugins={[gfm]}
        components={{
          a({ href = "", children }) {
            if (!href.startsWith(CITATION))
              return (
                <a href={href} target="_blank" rel="noreferrer noopener">
                  {children}
                </a>
              );
            const id = href.slice(CITATION.length);
            return (
              <button type="button" className="cite" title={known.get(id)} aria-label={texts.ask.source(id, known.get(id) ?? "")} onClick={() => onCite(id)}>
                {id}
              </button>
            );
          },
          img: ({ alt }) => <em>{alt}</em>,
        }}
      >
        {linkCitations(answer, new Set(known.keys()))}
      </Markdown>
    </div>
  );
}
