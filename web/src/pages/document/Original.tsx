import { useMutation, useQuery } from "@tanstack/react-query";
import { FileDown, FileSearch } from "lucide-react";
import { useState } from "react";
import { data, request, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Failure } from "../../ui/notices";
import type { Document } from "../documents/useDocuments";
import { PageDialog, type PagePlace } from "./PageDialog";

/** Milliseconds for which a file that was fetched is kept for the folder it goes to. */
const KEPT = 60_000;

const isPdf = ({ metadata }: Document) => metadata.media_type === "application/pdf";

function download(file: Blob, name: string) {
  const address = URL.createObjectURL(new Blob([file], { type: "application/octet-stream" }));
  setTimeout(() => URL.revokeObjectURL(address), KEPT);
  const link = window.document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

type OriginalButtonProps = { document: Document; place?: PagePlace; className?: string };

/** Shows a page of the PDF that a document was read from, and has any other file downloaded; nothing where it is not kept. */
export function OriginalButton({ document, place = { number: 1 }, className = "" }: OriginalButtonProps) {
  const texts = useTexts().document;
  const workspace = useWorkspace();
  const [isOpen, setOpen] = useState(false);
  const name = String(document.metadata.file_name ?? document.file_path);
  const fetching = useMutation({
    mutationFn: async () => download(await (await request(`/documents/${encodeURIComponent(document.id)}/original`, workspace)).blob(), name),
  });
  if (!document.original_size) return null;
  const hasPages = isPdf(document);
  const press = () => (hasPages ? setOpen(true) : fetching.mutate());
  return (
    <>
      <Button look="quiet" icon={hasPages ? FileSearch : FileDown} className={className} isDisabled={fetching.isPending} onPress={press}>
        {hasPages ? texts.originalPage : texts.original}
      </Button>
      {fetching.error && <Failure error={fetching.error} />}
      <PageDialog title={name} id={document.id} place={place} isOpen={isOpen} onClose={() => setOpen(false)} onDownload={() => fetching.mutate()} />
    </>
  );
}

/** The same for a document of which only the id is known, as of a passage that is cited. */
export function OriginalOf({ id, place }: { id: string; place: PagePlace }) {
  const api = useApi();
  const found = useQuery({
    queryKey: [useWorkspace(), "document", id],
    queryFn: async () => data(await api.GET("/documents/by_id", { params: { query: { doc_id: id } } })),
    retry: false,
  });
  return found.data ? <OriginalButton document={found.data} place={place} className="small" /> : null;
}
