import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowLeft, Trash2, Undo2 } from "lucide-react";
import { Link } from "react-router";
import { type Api, data, useApi, useWorkspace } from "../../api/client";
import { nameIn } from "../../api/documentNames";
import type { LogEvent } from "../../api/live";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Empty, Failure, Loading } from "../../ui/notices";
import { addAgain } from "./addAgain";
import { useChange } from "./useDocuments";

const PER_PAGE = 50;

interface Deletion {
  id: string;
  name: string;
  event: LogEvent;
}

/** The deletion of a document that is still deleted; null for one that was added again or erased. */
async function deletionOf(api: Api, id: string): Promise<Deletion | null> {
  const query = { type: ["DocumentAdded" as const, "DocumentDeleted" as const, "DocumentErased" as const], limit: 10, before: Number.MAX_SAFE_INTEGER };
  const { events } = data(await api.GET("/documents/{document_id}/events", { params: { path: { document_id: id }, query } }));
  const event = events.at(-1);
  const added = events.filter(({ type }) => type === "DocumentAdded").at(-1);
  return event?.type === "DocumentDeleted" && added ? { id, name: nameIn(added), event } : null;
}

function Row({ deletion, onDone }: { deletion: Deletion; onDone: () => void }) {
  const texts = useTexts();
  const format = useFormat();
  const api = useApi();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const undo = useChange(() => addAgain(api, [deletion.id]).then(onDone));
  const { id, name, event } = deletion;
  const why = event.text.replace(/^deleted(: )?/, "");
  return (
    <li>
      <div>
        <Link to={`/${workspace}/documents/${encodeURIComponent(id)}`}>{name}</Link>
        <p className="hint">{[texts.documents.deletedAt(format.moment(event.time)), event.actor, why].filter(Boolean).join(" · ")}</p>
        {undo.error && <Failure error={undo.error} />}
      </div>
      {mayWrite && (
        <Button look="quiet" icon={Undo2} isDisabled={undo.isPending} aria-label={texts.documents.addAgainOf(name)} onPress={() => undo.mutate(undefined)}>
          {texts.documents.addAgain}
        </Button>
      )}
    </li>
  );
}

/** Documents that were deleted and not erased, the last first, each to be added again with the text that it had. */
export default function BinPage() {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const found = useInfiniteQuery({
    queryKey: [workspace, "events", "deleted"],
    queryFn: async ({ pageParam }) =>
      data(await api.GET("/events", { params: { query: { limit: PER_PAGE, type: ["DocumentDeleted"], ...(pageParam ? { before: pageParam } : {}) } } })),
    initialPageParam: 0,
    getNextPageParam: (page) => (page.remaining > 0 ? page.before : undefined),
  });
  const ids = [...new Set(found.data?.pages.flatMap((page) => page.events.map(({ document }) => document).reverse()))];
  const deletions = useQuery({
    queryKey: [workspace, "events", "deleted", "rows", ids],
    queryFn: async () => (await Promise.all(ids.map((id) => deletionOf(api, id)))).filter((deletion) => deletion !== null),
    enabled: found.data !== undefined,
    placeholderData: (before) => before,
  });
  const refresh = () => void queries.invalidateQueries({ queryKey: [workspace, "events"] });
  const rows = deletions.data ?? [];
  const undoAll = useChange(async () => {
    await addAgain(
      api,
      rows.map(({ id }) => id),
    ).finally(refresh);
  });
  const error = found.error ?? deletions.error ?? undoAll.error;
  return (
    <div className="page">
      <Link to={`/${workspace}/documents`} className="back">
        <ArrowLeft size={14} aria-hidden /> {texts.documents.title}
      </Link>
      <header className="title">
        <h1>{texts.documents.bin}</h1>
        {mayWrite && rows.length > 1 && (
          <Button icon={Undo2} isDisabled={undoAll.isPending} onPress={() => undoAll.mutate(undefined)}>
            {undoAll.isPending ? texts.documents.addingAgain(rows.length) : texts.documents.addAllAgain(rows.length)}
          </Button>
        )}
      </header>
      <p className="hint">{texts.documents.binText}</p>
      {error && <Failure error={error} retry={refresh} />}
      {deletions.isPending && !error && <Loading />}
      {deletions.data && rows.length === 0 && !found.hasNextPage && <Empty icon={Trash2} title={texts.documents.binEmpty} />}
      {rows.length > 0 && (
        <section className="letters" aria-label={texts.documents.bin}>
          <ul>
            {rows.map((deletion) => (
              <Row key={deletion.id} deletion={deletion} onDone={refresh} />
            ))}
          </ul>
        </section>
      )}
      {found.hasNextPage && (
        <Button isDisabled={found.isFetchingNextPage} onPress={() => void found.fetchNextPage()}>
          {texts.document.showMore}
        </Button>
      )}
    </div>
  );
}
