import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight, FileText, RotateCw, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { data, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Confirm } from "../../ui/dialogs";
import { useFormat } from "../../ui/format";
import { Empty, Failure, Loading, Notice } from "../../ui/notices";
import { AddMenu } from "./AddMenu";
import { DocumentTable } from "./DocumentTable";
import { DropArea } from "./DropArea";
import { FirstVisit } from "./FirstVisit";
import { UploadList } from "./UploadList";
import { onAdded } from "./uploads";
import {
  counted,
  FILTERS,
  type Filter,
  type Listing,
  useChange,
  useDocuments,
  useListing,
} from "./useDocuments";

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

function Paging({ listing, total, size }: { listing: Listing; total: number; size: number }) {
  const texts = useTexts();
  const from = (listing.page - 1) * size + 1;
  const to = Math.min(listing.page * size, total);
  if (total <= size) return null;
  return (
    <div className="paging">
      <span>{texts.documents.page(from, to, total)}</span>
      <Button
        icon={ChevronLeft}
        label={texts.documents.previous}
        isDisabled={listing.page === 1}
        onPress={() => listing.change({ page: listing.page - 1 })}
      />
      <Button
        icon={ChevronRight}
        label={texts.documents.next}
        isDisabled={to >= total}
        onPress={() => listing.change({ page: listing.page + 1 })}
      />
    </div>
  );
}

function Removal({ selected, onDone }: { selected: ReadonlySet<string>; onDone: () => void }) {
  const texts = useTexts();
  const api = useApi();
  const [isAsking, setAsking] = useState(false);
  const remove = useChange(async (ids: string[]) => {
    await api.DELETE("/documents/delete_document", {
      body: { doc_ids: ids, delete_file: false, delete_llm_cache: false },
    });
    onDone();
  });
  return (
    <div className="selection">
      <span role="status">{texts.documents.selected(selected.size)}</span>
      <Button look="danger" icon={Trash2} isDisabled={remove.isPending} onPress={() => setAsking(true)}>
        {texts.documents.delete}
      </Button>
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

function ModelNotice() {
  const texts = useTexts();
  const api = useApi();
  const health = useQuery({
    queryKey: [useWorkspace(), "health"],
    queryFn: async () => data(await api.GET("/health")),
    staleTime: 60_000,
  });
  const configuration = health.data?.configuration as { llm_model?: string | null } | undefined;
  if (!configuration || configuration.llm_model) return null;
  return <Notice title={texts.documents.noModel}>{texts.documents.noModelText}</Notice>;
}

/** The documents of the workspace: adding, watching, trying again, deleting. */
export function DocumentsPage() {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const listing = useListing();
  const documents = useDocuments(listing);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const retry = useChange(() => api.POST("/documents/reprocess_failed"));
  const counts = documents.data?.status_counts;

  useEffect(
    () => onAdded(() => void queries.invalidateQueries({ queryKey: [workspace, "documents"] })),
    [queries, workspace],
  );

  const isEmpty = documents.data !== undefined && counted(counts, "all") === 0;
  return (
    <DropArea isEnabled={mayWrite}>
      <header className="title">
        <h1>{texts.documents.title}</h1>
        {mayWrite && <AddMenu />}
      </header>
      <UploadList />
      {isEmpty ? <FirstVisit /> : null}
      {isEmpty && <ModelNotice />}
      {documents.error && <Failure error={documents.error} retry={() => void documents.refetch()} />}
      {!isEmpty && (
        <div className="toolbar">
          <Filters listing={listing} counts={counts} />
          {mayWrite && counted(counts, "failed") > 0 && (
            <Button icon={RotateCw} isDisabled={retry.isPending} onPress={() => retry.mutate(undefined)}>
              {texts.documents.retryFailed}
            </Button>
          )}
          {selected.size > 0 && <Removal selected={selected} onDone={() => setSelected(new Set())} />}
        </div>
      )}
      {documents.isPending && <Loading />}
      {documents.data && !isEmpty && documents.data.documents.length === 0 && (
        <Empty icon={FileText} title={texts.documents.emptyFilter} />
      )}
      {documents.data && documents.data.documents.length > 0 && (
        <DocumentTable
          documents={documents.data.documents}
          listing={listing}
          selected={selected}
          onSelect={setSelected}
        />
      )}
      {documents.data && (
        <Paging
          listing={listing}
          total={documents.data.pagination.total_count}
          size={documents.data.pagination.page_size}
        />
      )}
    </DropArea>
  );
}
