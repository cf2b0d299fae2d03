import { useQueryClient } from "@tanstack/react-query";
import { FileText, History, RotateCw, Search, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { Link } from "react-router";
import { useApi, useWorkspace } from "../../api/client";
import { useMayWrite, useSeesAllDocuments } from "../../api/principal";
import { StateNotice } from "../../shell/StateNotice";
import { useTexts } from "../../texts";
import { Input, Label, SearchField } from "react-aria-components";
import { Button } from "../../ui/controls";
import { Confirm } from "../../ui/dialogs";
import { useFormat } from "../../ui/format";
import { Empty, Failure, Loading } from "../../ui/notices";
import { DescribeFigures } from "../document/DescribeFigures";
import { AddMenu } from "./AddMenu";
import { Deleted } from "./Deleted";
import { DocumentTable } from "./DocumentTable";
import { Erasure } from "./Erasure";
import { FirstVisit } from "./FirstVisit";
import { LanguageNotice } from "./LanguageNotice";
import { ModelNotice } from "./ModelNotice";
import { TimeLeft } from "./TimeLeft";
import { RefusedUploads } from "./RefusedUploads";
import { SampleReady } from "./SampleReady";
import { UploadList } from "./UploadList";
import { onAdded } from "./uploads";
import {
  counted,
  FILTERS,
  type Filter,
  idsOf,
  type Listing,
  useChange,
  useDocuments,
  useListing,
  working,
} from "./useDocuments";
import { useSurroundings } from "./useSurroundings";

function Filters({ listing, counts }: { listing: Listing; counts: Record<string, number> | undefined }) {
  const texts = useTexts();
  const format = useFormat();
  const names: Record<Filter, string> = {
    all: texts.documents.all,
    working: texts.documents.statuses.processing ?? "",
    processed: texts.documents.statuses.processed ?? "",
    failed: texts.documents.statuses.failed ?? "",
  };
  return (
    <fieldset className="filters">
      <legend className="hidden">{texts.documents.filter}</legend>
      {(Object.keys(FILTERS) as Filter[]).map((filter) => (
        <button
          key={filter}
          type="button"
          className={`chip ${filter}`}
          aria-pressed={listing.filter === filter}
          onClick={() => listing.change({ filter })}
        >
          {names[filter]} <span>{format.number(counted(counts, filter))}</span>
        </button>
      ))}
    </fieldset>
  );
}

/** Milliseconds without a letter until a name is searched for. */
const PAUSE = 250;

/** Finds documents by a part of their name. */
function NameSearch({ listing }: { listing: Listing }) {
  const texts = useTexts();
  const [written, setWritten] = useState(listing.find);
  const { find, change } = listing;
  useEffect(() => {
    if (written.trim() === find) return;
    const timer = setTimeout(() => change({ find: written.trim() }), PAUSE);
    return () => clearTimeout(timer);
  }, [written, find, change]);
  return (
    <SearchField className="search" value={written} onChange={setWritten}>
      <Label className="hidden">{texts.documents.search}</Label>
      <Search size={15} aria-hidden />
      <Input placeholder={texts.documents.search} maxLength={500} />
    </SearchField>
  );
}

type RemovalProps = { selected: ReadonlySet<string>; onDone: () => void; onDeleted: (ids: string[]) => void };

function Removal({ selected, onDone, onDeleted }: RemovalProps) {
  const texts = useTexts();
  const api = useApi();
  const [isAsking, setAsking] = useState(false);
  const remove = useChange(async (ids: string[]) => {
    await api.DELETE("/documents/delete_document", {
      body: { doc_ids: ids, delete_file: false, delete_llm_cache: false },
    });
    onDeleted(ids);
    onDone();
  });
  return (
    <div className="selection">
      <span role="status">{texts.documents.selected(selected.size)}</span>
      <Button look="danger" icon={Trash2} isDisabled={remove.isPending} onPress={() => setAsking(true)}>
        {texts.documents.delete}
      </Button>
      <Erasure ids={[...selected]} onDone={onDone} />
      <DescribeFigures documents={[...selected]} />
      {remove.error && <Failure error={remove.error} />}
      <Confirm
        title={texts.documents.deleteTitle(selected.size)}
        text={texts.documents.deleteText}
        action={texts.documents.delete}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate([...selected])}
      />
    </div>
  );
}

/** The documents of the workspace: adding, watching, trying again, deleting. */
export function DocumentsPage() {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const seesAllDocuments = useSeesAllDocuments();
  const queries = useQueryClient();
  const listing = useListing();
  const [pages, setPages] = useState<readonly number[]>([1]);
  const documents = useDocuments(listing, pages);
  const [deleted, setDeleted] = useState<readonly string[]>([]);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const retry = useChange(() => api.POST("/documents/reprocess_failed"));
  const { counts, total, documentAt } = documents;
  const surroundings = useSurroundings(working(counts) > 0);
  const selectAll = useChange(async (on: boolean) => setSelected(new Set(on ? await idsOf(api, listing) : [])));

  useEffect(
    () => onAdded(() => void queries.invalidateQueries({ queryKey: [workspace, "documents"] })),
    [queries, workspace],
  );

  const isEmpty = documents.data !== undefined && counted(counts, "all") === 0;
  return (
    <div className="page">
      <header className="title">
        <h1>{texts.documents.title}</h1>
        {seesAllDocuments && (
          <>
            <Link className="button quiet" to={`/${workspace}/succession`}>
              <History size={16} aria-hidden /> {texts.validity.succession}
            </Link>
            <Link className="button quiet" to={`/${workspace}/bin`}>
              <Trash2 size={16} aria-hidden /> {texts.documents.bin}
            </Link>
          </>
        )}
        {mayWrite && <AddMenu />}
      </header>
      <StateNotice />
      <UploadList />
      <RefusedUploads />
      {deleted.length > 0 && <Deleted ids={deleted} onDone={() => setDeleted([])} />}
      {isEmpty && <FirstVisit />}
      {isEmpty ? <ModelNotice /> : <LanguageNotice />}
      <SampleReady total={counted(counts, "all")} />
      {documents.error && <Failure error={documents.error} retry={() => void documents.refetch()} />}
      {!isEmpty && (
        <div className="toolbar">
          <NameSearch key={workspace} listing={listing} />
          <Filters listing={listing} counts={counts} />
          <TimeLeft isWorking={working(counts) > 0} />
          {mayWrite && counted(counts, "failed") > 0 && (
            <Button icon={RotateCw} isDisabled={retry.isPending} onPress={() => retry.mutate(undefined)}>
              {texts.documents.retryFailed}
            </Button>
          )}
          {selected.size > 0 && <Removal selected={selected} onDone={() => setSelected(new Set())} onDeleted={setDeleted} />}
        </div>
      )}
      {documents.isPending && <Loading />}
      {documents.data && !isEmpty && total === 0 && (
        <Empty icon={FileText} title={listing.find ? texts.documents.nothingFound : texts.documents.emptyFilter} />
      )}
      {total > 0 && (
        <DocumentTable
          total={total}
          documentAt={documentAt}
          onPages={setPages}
          listing={listing}
          surroundings={surroundings}
          selected={selected}
          onSelect={setSelected}
          onSelectAll={(on) => selectAll.mutate(on)}
        />
      )}
    </div>
  );
}
