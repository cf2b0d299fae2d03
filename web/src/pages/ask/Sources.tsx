import { FileText } from "lucide-react";
import { Link } from "react-router";
import { useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Dialog } from "../../ui/dialogs";
import type { Reference } from "./stream";

/** The passages of a source, each with the way to its place in the document. */
export function SourceDialog({ reference, onClose }: { reference: Reference | undefined; onClose: () => void }) {
  const texts = useTexts();
  const workspace = useWorkspace();
  return (
    <Dialog title={reference ? `[${reference.reference_id}] ${reference.file_path}` : ""} isOpen={reference !== undefined} onClose={onClose} wide>
      <ol className="passages">
        {(reference?.chunks ?? []).map((place, index) => (
          <li key={place.chunk_id}>
            <header>
              {place.page !== null && <span>{texts.document.pageNumber(place.page)}</span>}
              {place.start !== null && place.end !== null && <span>{texts.ask.place(place.start, place.end)}</span>}
              <Link to={`/${workspace}/documents/${encodeURIComponent(place.document_id)}?chunk=${encodeURIComponent(place.chunk_id)}`}>
                {texts.ask.inDocument}
              </Link>
            </header>
            <blockquote>{reference?.content?.[index]}</blockquote>
          </li>
        ))}
      </ol>
    </Dialog>
  );
}

export function SourceList({ references, onCite }: { references: Reference[]; onCite: (id: string) => void }) {
  const texts = useTexts();
  if (references.length === 0) return null;
  return (
    <ul className="sources" aria-label={texts.ask.sources}>
      {references.map((reference) => (
        <li key={reference.reference_id}>
          <button type="button" className="chip" onClick={() => onCite(reference.reference_id)}>
            <FileText size={13} aria-hidden /> {reference.reference_id} · {reference.file_path}
            {reference.also_in && <span className="hint"> ({texts.ask.alsoIn(reference.also_in.join(", "))})</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}
