import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { type Api, data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Failure, Loading, Notice } from "../../ui/notices";
import { Whole } from "../log/EventRows";

type Source = Schemas["ChunkSource"];

const PER_PAGE = 20;
const EVENTS = 200;

/** The newest event that told what the chunk says; null where the log has none. */
async function eventOf(api: Api, { document_id, order }: Source): Promise<number | null> {
  for (let before: number | undefined; ; ) {
    const query = { type: ["EntitiesExtracted" as const], limit: EVENTS, before: before ?? Number.MAX_SAFE_INTEGER };
    const page = data(await api.GET("/documents/{document_id}/events", { params: { path: { document_id }, query } }));
    const found = page.events.findLast(({ chunks }) => chunks?.includes(order));
    if (found) return found.sequence;
    if (page.remaining === 0 || page.before === null) return null;
    before = page.before;
  }
}

function EventOf({ source }: { source: Source }) {
  const texts = useTexts();
  const api = useApi();
  const event = useQuery({
    queryKey: [useWorkspace(), "event-of", source.chunk_id],
    queryFn: () => eventOf(api, source),
  });
  if (event.isPending) return <Loading />;
  if (event.error) return <Failure error={event.error} />;
  return event.data === null ? <Notice>{texts.graph.noEvent}</Notice> : <Whole sequence={event.data} />;
}

function SourceRow({ source }: { source: Source }) {
  const texts = useTexts();
  const workspace = useWorkspace();
  const [isOpen, setOpen] = useState(false);
  const { document_id, chunk_id, file_path, order, start, end, page, description } = source;
  const place = [
    texts.document.chunk(order + 1),
    start !== null && end !== null && texts.ask.place(start, end),
    page !== null && texts.document.pageNumber(page),
  ].filter(Boolean);
  return (
    <li>
      <div>
        <Link to={`/${workspace}/documents/${encodeURIComponent(document_id)}?chunk=${encodeURIComponent(chunk_id)}`}>{file_path}</Link>
        <Button look="quiet" icon={ScrollText} label={texts.graph.itsEvent} className="small" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)} />
      </div>
      <p className="hint">{place.join(" · ")}</p>
      {description && <p>{description}</p>}
      {isOpen && <EventOf source={source} />}
    </li>
  );
}

/** The chunks that speak of an entity, or of a relation when there is an `other`: each with its place and the event that told it. */
export function Provenance({ name, other = "" }: { name: string; other?: string }) {
  const texts = useTexts();
  const api = useApi();
  const sources = useInfiniteQuery({
    queryKey: [useWorkspace(), "provenance", name, other],
    queryFn: async ({ pageParam }) =>
      data(await api.GET("/graph/provenance", { params: { query: { name, after: pageParam, limit: PER_PAGE, ...(other ? { other } : {}) } } })),
    initialPageParam: "",
    getNextPageParam: (page) => page.after,
  });
  if (sources.isPending) return <Loading />;
  if (sources.error) return <Failure error={sources.error} retry={() => void sources.refetch()} />;
  const all = sources.data.pages.flatMap((page) => page.sources);
  return (
    <>
      {all.length === 0 && <p className="hint">{texts.graph.madeByPeople}</p>}
      <ul className="provenance">
        {all.map((source) => (
          <SourceRow key={`${source.chunk_id} ${source.names.join("\n")}`} source={source} />
        ))}
      </ul>
      {sources.hasNextPage && (
        <Button isDisabled={sources.isFetchingNextPage} onPress={() => void sources.fetchNextPage()}>
          {texts.document.showMore}
        </Button>
      )}
    </>
  );
}
