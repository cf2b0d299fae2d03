import { FileText } from "lucide-react";
import { useLayoutEffect, useMemo, useRef } from "react";
import { Link } from "react-router";
import { useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Dialog } from "../../ui/dialogs";
import { isMarkdown, type Part, Prose } from "../../ui/Prose";
import { type FigureOf, Figures } from "../document/Figures";
import { OriginalOf } from "../document/Original";
import type { Citation } from "./AnswerText";
import { citedOffset, citedParts, inText, pageAt, type Range, toAddress } from "./sentences";
import type { Reference } from "./stream";

/** Figures that are shown beside an answer. */
const MOST_FIGURES = 6;

export type Numbers = ReadonlyMap<string, number>;

const marks = (ranges: readonly Range[]): Part[] => ranges.map(({ start, end }) => ({ start, end, look: "cited" }));

type Place = NonNullable<Reference["chunks"]>[number];

const figuresOf = ({ document_id: document, figures = [] }: Place, asOf: number): FigureOf[] =>
  figures.map((figure) => ({ document, figure, asOf }));

/** The figures in the passages of the sources that an answer cites, beside it. */
export function CitedFigures({ references, numbers, asOf }: { references: Reference[]; numbers: Numbers; asOf: number }) {
  const cited = references.filter(({ reference_id }) => numbers.has(reference_id));
  const figures = cited.flatMap(({ chunks }) => chunks ?? []).flatMap((place) => figuresOf(place, asOf));
  return <Figures of={figures.slice(0, MOST_FIGURES)} isDescribed />;
}

function Passages({ reference, claim, asOf }: { reference: Reference; claim: string; asOf: number }) {
  const texts = useTexts();
  const workspace = useWorkspace();
  const list = useRef<HTMLOListElement>(null);
  const passages = reference.content;
  const cited = useMemo(() => citedParts(claim, passages ?? []), [claim, passages]);
  const parts = useMemo(() => cited.map(marks), [cited]);
  // After the dialog is drawn, which is where a browser puts the focus first.
  useLayoutEffect(() => {
    const frame = requestAnimationFrame(() => list.current?.querySelector("mark")?.scrollIntoView({ block: "center" }));
    return () => cancelAnimationFrame(frame);
  }, []);
  return (
    <ol className="passages" ref={list}>
      {(reference.chunks ?? []).map((place, index) => {
        const mark = toAddress(cited[index] ?? []);
        const offset = citedOffset(passages?.[index] ?? "", cited[index] ?? []);
        const page = pageAt(place, offset);
        return (
          <li key={place.chunk_id}>
            <header>
              {page !== null && <span>{texts.document.pageNumber(page)}</span>}
              {place.start !== null && place.end !== null && <span>{texts.ask.place(place.start, place.end)}</span>}
              <Link
                to={`/${workspace}/documents/${encodeURIComponent(place.document_id)}?chunk=${encodeURIComponent(place.chunk_id)}${mark && `&mark=${mark}`}`}
              >
                {texts.ask.inDocument}
              </Link>
              {page !== null && <OriginalOf id={place.document_id} place={{ ...(mark ? { marks: inText({ ...place, content: passages?.[index] ?? "" }, cited[index] ?? []) } : { number: page }), asOf }} />}
            </header>
            <div className="passage">
              <Prose text={passages?.[index] ?? ""} parts={parts[index] ?? []} isPlain={!isMarkdown(reference.file_path)} />
            </div>
            <Figures of={figuresOf(place, asOf)} />
          </li>
        );
      })}
    </ol>
  );
}

type SourceDialogProps = { references: Reference[]; citation: Citation | undefined; numbers: Numbers; asOf: number; onClose: () => void };

/** The passages of a source with what they are cited for, each with the way to its place in the document. */
export function SourceDialog({ references, citation, numbers, asOf, onClose }: SourceDialogProps) {
  const texts = useTexts();
  const reference = references.find(({ reference_id }) => reference_id === citation?.id);
  const title = reference ? `[${numbers.get(reference.reference_id)}] ${reference.file_path}` : "";
  return (
    <Dialog title={title} isOpen={reference !== undefined} onClose={onClose} wide>
      {reference?.also_in && <p className="hint">{texts.ask.alsoIn(reference.also_in.join(", "))}</p>}
      {reference && <Passages reference={reference} claim={citation?.claim ?? ""} asOf={asOf} />}
    </Dialog>
  );
}

type SourceListProps = { references: Reference[]; numbers: Numbers; onCite: (citation: Citation) => void };

export function SourceList({ references, numbers, onCite }: SourceListProps) {
  const texts = useTexts();
  if (references.length === 0) return null;
  const numberOf = ({ reference_id }: Reference) => numbers.get(reference_id) ?? 0;
  return (
    <ul className="sources" aria-label={texts.ask.sources}>
      {[...references]
        .sort((one, other) => numberOf(one) - numberOf(other))
        .map((reference) => (
          <li key={reference.reference_id}>
            <button type="button" className="chip" onClick={() => onCite({ id: reference.reference_id, claim: "" })}>
              <FileText size={13} aria-hidden /> {numberOf(reference)} · {reference.file_path}
              {reference.also_in && <span className="hint"> ({texts.ask.alsoIn(reference.also_in.join(", "))})</span>}
            </button>
          </li>
        ))}
    </ul>
  );
}
