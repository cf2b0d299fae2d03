import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight, FileDown } from "lucide-react";
import { useRef, useState } from "react";
import { useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure, Loading } from "../../ui/notices";
import { useAddressOf } from "../../ui/pictures";
import { nowOrThen } from "./earlier";

/** Where in a PDF somebody looks: at a page, or at the one where the first of these parts of the text begins. */
export interface PagePlace {
  number?: number | undefined;
  /** Parts of the document's text in characters, as `12-80,90-120`. */
  marks?: string;
  /** The position of the answer that cites it: the document may have a newer version since. */
  asOf?: number | undefined;
}

interface Drawn {
  picture: Blob;
  number: number;
  count: number;
  /** How far down the page the first mark begins, from 0 to 1. */
  mark: number;
}

function usePage(document: string, { number, marks, asOf }: PagePlace) {
  const workspace = useWorkspace();
  const query: Record<string, string> = { ...(number ? { number: String(number) } : {}), ...(marks ? { marks } : {}) };
  return useQuery({
    queryKey: [workspace, "page", document, query],
    queryFn: async (): Promise<Drawn> => {
      const answer = await nowOrThen(`/documents/${encodeURIComponent(document)}/page`, query, workspace, asOf);
      const header = (name: string) => Number(answer.headers.get(name) ?? 0);
      return { picture: await answer.blob(), number: header("Lightstream-Page"), count: header("Lightstream-Pages"), mark: header("Lightstream-Mark") };
    },
    placeholderData: keepPreviousData,
    retry: false,
  });
}

type PageViewProps = { id: string; place: PagePlace; onDownload: () => void };

function PageView({ id, place, onDownload }: PageViewProps) {
  const texts = useTexts().document;
  const [number, setNumber] = useState(place.number);
  const page = usePage(id, { ...place, number });
  const address = useAddressOf(page.data?.picture);
  const frame = useRef<HTMLDivElement>(null);
  /** The mark in the upper part of what is seen, once the picture has its size. */
  const showMark = () => {
    const of = frame.current;
    of?.scrollTo({ top: (page.data?.mark ?? 0) * of.scrollHeight - of.clientHeight / 3 });
  };
  if (page.error) return <Failure error={page.error} retry={() => void page.refetch()} />;
  if (!page.data) return <Loading />;
  const { number: shown, count } = page.data;
  const name = texts.pageOf(shown, count);
  return (
    <>
      <div className="page-tools">
        <Button icon={ChevronLeft} look="quiet" label={texts.pageBefore} isDisabled={shown <= 1} onPress={() => setNumber(shown - 1)} />
        <span aria-live="polite">{name}</span>
        <Button icon={ChevronRight} look="quiet" label={texts.pageAfter} isDisabled={shown >= count} onPress={() => setNumber(shown + 1)} />
        <Button icon={FileDown} look="quiet" className="small" onPress={onDownload}>
          {texts.download}
        </Button>
      </div>
      {/* Reached by keyboard, to be scrolled. */}
      <div className="pdf-page" ref={frame} tabIndex={0} role="group" aria-label={name} aria-busy={page.isFetching}>
        {address && <img src={address} alt={name} onLoad={showMark} />}
      </div>
    </>
  );
}

type PageDialogProps = PageViewProps & { title: string; isOpen: boolean; onClose: () => void };

/** A page of the PDF that a document was read from, with what is cited marked, and the pages before and after it. */
export function PageDialog({ title, isOpen, onClose, ...view }: PageDialogProps) {
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose} wide>
      <PageView {...view} />
    </Dialog>
  );
}
