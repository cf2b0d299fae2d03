import { useMutation, useQuery } from "@tanstack/react-query";
import { FileDown } from "lucide-react";
import { data, request, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Failure } from "../../ui/notices";
import type { Document } from "../documents/useDocuments";

const PDF = "application/pdf";
/** Milliseconds for which a file that was fetched is kept for the tab or the folder it goes to. */
const KEPT = 60_000;

const isPdf = ({ metadata }: Document) => metadata.media_type === PDF;

/** A PDF goes to the tab at its page; any other file, which a browser might run, to the folder of downloads. */
function show(file: Blob, document: Document, tab: Window | null, page: number | null) {
  const address = URL.createObjectURL(new Blob([file], { type: tab ? PDF : "application/octet-stream" }));
  setTimeout(() => URL.revokeObjectURL(address), KEPT);
  if (tab) {
    tab.location.href = page === null ? address : `${address}#page=${page}`;
    return;
  }
  const link = window.document.createElement("a");
  link.href = address;
  link.download = String(document.metadata.file_name ?? document.file_path);
  link.click();
}

type OriginalButtonProps = {
  document: Document;
  /** The page on which its passage begins. */
  page?: number | null;
  /** The character of the text that is looked for: its page is asked for, which may be a later one. */
  character?: number | null;
  className?: string;
};

/** Opens the file that a document was read from, a PDF at a page; nothing where it is not kept. */
export function OriginalButton({ document, page = null, character = null, className = "" }: OriginalButtonProps) {
  const texts = useTexts().document;
  const workspace = useWorkspace();
  const opening = useMutation({
    mutationFn: async (tab: Window | null) => {
      try {
        const place = character === null ? "" : `?character=${character}`;
        const answer = await request(`/documents/${encodeURIComponent(document.id)}/original${place}`, workspace);
        const found = Number(answer.headers.get("Lightstream-Page"));
        show(await answer.blob(), document, tab, found || page);
      } catch (error) {
        tab?.close();
        throw error;
      }
    },
  });
  if (!document.original_size) return null;
  // Opened at once: a browser lets no page open a tab later than the press of a button.
  const press = () => opening.mutate(isPdf(document) ? window.open("about:blank") : null);
  return (
    <>
      <Button look="quiet" icon={FileDown} className={className} isDisabled={opening.isPending} onPress={press}>
        {page !== null && character === null && isPdf(document) ? texts.originalAt(page) : texts.original}
      </Button>
      {opening.error && <Failure error={opening.error} />}
    </>
  );
}

/** The same for a document of which only the id is known, as of a passage that is cited. */
export function OriginalOf({ id, page, character }: { id: string; page: number | null; character: number | null }) {
  const api = useApi();
  const found = useQuery({
    queryKey: [useWorkspace(), "document", id],
    queryFn: async () => data(await api.GET("/documents/by_id", { params: { query: { doc_id: id } } })),
    retry: false,
  });
  return found.data ? <OriginalButton document={found.data} page={page} character={character} className="small" /> : null;
}
