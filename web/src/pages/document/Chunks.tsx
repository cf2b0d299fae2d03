import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link } from "react-router";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Failure, Loading, Notice } from "../../ui/notices";

type Chunk = Schemas["DocumentChunk"];

const PER_PAGE = 50;

/** The order of a chunk, which its id ends with; -1 for none. */
const orderOf = (id: string) => Number(/-chunk-(\d+)$/.exec(id)?.[1] ?? -1);

/** How much of the chunk's beginning stands in the one before too, in characters as people count them. */
function overlap(chunk: Chunk, before: Chunk | undefined): number {
  if (!before || chunk.start === null || before.end === null) return 0;
  return Math.max(0, Math.min(before.end - chunk.start, [...chunk.content].length));
}

function ChunkView({ chunk, before, isCited }: { chunk: Chunk; before: Chunk | undefined; isCited: boolean }) {
  const texts = useTexts();
  const workspace = useWorkspace();
  const place = useRef<HTMLLIElement>(null);
  const shared = overlap(chunk, before);
  const letters = [...chunk.content];
  useEffect(() => {
    if (isCited) place.current?.scrollIntoView({ block: "start" });
  }, [isCited]);
  return (
    <li ref={place} className={isCited ? "chunk cited" : "chunk"} id={chunk.id}>
      <header>
        <strong>{texts.document.chunk(chunk.order + 1)}</strong>
        {chunk.page !== null && <span>{texts.document.pageNumber(chunk.page)}</span>}
        <span>{texts.document.tokens(chunk.tokens)}</span>
        {isCited && <span className="badge processed">{texts.document.cited}</span>}
      </header>
      <div className="text">
        {shared > 0 && <span className="shared" title={texts.document.overlap}>{letters.slice(0, shared).join("")}</span>}
        {letters.slice(shared).join("")}
      </div>
      {chunk.entities.length > 0 && (
        <ul className="names" aria-label={texts.ask.entities}>
          {chunk.entities.map(({ name, type, description }) => (
            <li key={name}>
              <Link className="chip" to={`/${workspace}/graph?entity=${encodeURIComponent(name)}`} title={description}>
                {name} <span>{type}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {chunk.relations.length > 0 && (
        <ul className="names" aria-label={texts.ask.relations}>
          {chunk.relations.map(({ source, target, description }) => (
            <li key={`${source}\n${target}`}>
              <Link className="chip" to={`/${workspace}/graph?entity=${encodeURIComponent(source)}`} title={description}>
                {source} – {target}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** The text of a document with the chunks it was cut into, and the names that each of them gave. */
export function Chunks({ id, cited }: { id: string; cited: string }) {
  const texts = useTexts();
  const api = useApi();
  const wanted = orderOf(cited);
  const chunks = useInfiniteQuery({
    queryKey: [useWorkspace(), "chunks", id],
    queryFn: async ({ pageParam }) =>
      data(
        await api.GET("/documents/{document_id}/chunks", {
          params: { path: { document_id: id }, query: { after: pageParam, limit: PER_PAGE } },
        }),
      ),
    initialPageParam: -1,
    getNextPageParam: (page) => page.after,
  });
  const all = chunks.data?.pages.flatMap((page) => page.chunks) ?? [];
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = chunks;
  const isMissing = wanted >= 0 && hasNextPage && !isFetchingNextPage && !all.some((chunk) => chunk.order === wanted);
  useEffect(() => {
    if (isMissing) void fetchNextPage();
  }, [isMissing, fetchNextPage]);

  if (chunks.isPending) return <Loading />;
  if (chunks.error) return <Failure error={chunks.error} retry={() => void chunks.refetch()} />;
  if (all.length === 0) return <Notice>{texts.document.noText}</Notice>;
  return (
    <>
      <ol className="chunks">
        {all.map((chunk, index) => (
          <ChunkView key={chunk.id} chunk={chunk} before={all[index - 1]} isCited={chunk.order === wanted} />
        ))}
      </ol>
      {hasNextPage && (
        <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
          {texts.document.showMore}
        </Button>
      )}
    </>
  );
}
