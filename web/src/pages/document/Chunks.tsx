import { useInfiniteQuery } from "@tanstack/react-query";
import { CodeXml, ReceiptText } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link } from "react-router";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Failure, Loading, Notice } from "../../ui/notices";
import { isMarkdown, type Part, Prose } from "../../ui/Prose";
import { fromAddress, inText, type Range } from "../ask/sentences";
import type { Document } from "../documents/useDocuments";
import { DescribeFigures } from "./DescribeFigures";
import { Figures } from "./Figures";
import { OriginalButton } from "./Original";

type Chunk = Schemas["DocumentChunk"];

const PER_PAGE = 50;
const NO_MARKS: readonly Range[] = [];

/** The order of a chunk, which its id ends with; -1 for none. */
const orderOf = (id: string) => Number(/-chunk-(\d+)$/.exec(id)?.[1] ?? -1);

/** How much of the chunk's beginning stands in the one before too, in characters as people count them. */
function overlap(chunk: Chunk, before: Chunk | undefined): number {
  if (!before || chunk.start === null || before.end === null) return 0;
  return Math.max(0, Math.min(before.end - chunk.start, [...chunk.content].length));
}

type ChunkViewProps = { document: Document; chunk: Chunk; before: Chunk | undefined; isCited: boolean; marks: readonly Range[]; isPlain: boolean };

function ChunkView({ document, chunk, before, isCited, marks, isPlain }: ChunkViewProps) {
  const texts = useTexts();
  const workspace = useWorkspace();
  const place = useRef<HTMLLIElement>(null);
  const shared = overlap(chunk, before);
  const parts = useMemo((): Part[] => {
    const cited = marks.map(({ start, end }): Part => ({ start, end, look: "cited" }));
    const end = [...chunk.content].slice(0, shared).join("").length;
    return shared > 0 ? [...cited, { start: 0, end, look: "shared" }] : cited;
  }, [marks, shared, chunk.content]);
  useEffect(() => {
    if (!isCited) return;
    const mark = place.current?.querySelector("mark");
    if (mark) mark.scrollIntoView({ block: "center" });
    else place.current?.scrollIntoView({ block: "start" });
  }, [isCited]);
  return (
    <li ref={place} className={isCited ? "chunk cited" : "chunk"} id={chunk.id}>
      <header>
        <strong>{texts.document.chunk(chunk.order + 1)}</strong>
        {chunk.page !== null && <span>{texts.document.pageNumber(chunk.page)}</span>}
        <span>{texts.document.tokens(chunk.tokens)}</span>
        {isCited && <span className="badge processed">{texts.document.cited}</span>}
        {chunk.page !== null && <OriginalButton document={document} place={isCited && marks.length > 0 ? { marks: inText(chunk, marks) } : { number: chunk.page }} className="small" />}
        <Link className="button quiet bare small" to={`/${workspace}/receipts?passage=${encodeURIComponent(chunk.id)}`} title={texts.receipts.rested} aria-label={texts.receipts.rested}>
          <ReceiptText size={14} aria-hidden />
        </Link>
      </header>
      <div className="text" title={shared > 0 ? texts.document.overlap : undefined}>
        <Prose text={chunk.content} parts={parts} isPlain={isPlain} />
      </div>
      <Figures of={chunk.figures.map((figure) => ({ document: document.id, figure }))} />
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

/** The text of a document with the chunks it was cut into, what of it is cited, and the names that each of them gave. */
export function Chunks({ document, cited, mark }: { document: Document; cited: string; mark: string }) {
  const { id, file_path: name } = document;
  const texts = useTexts();
  const api = useApi();
  const [isRaw, setRaw] = useState(false);
  const marks = useMemo(() => fromAddress(mark), [mark]);
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
  const hasForm = isMarkdown(name);
  return (
    <>
      {all.some((chunk) => chunk.figures.length > 0) && <DescribeFigures documents={[id]} />}
      {hasForm && (
        <Button look="quiet" icon={CodeXml} aria-pressed={isRaw} onPress={() => setRaw(!isRaw)} className="raw">
          {texts.document.raw}
        </Button>
      )}
      <ol className="chunks">
        {all.map((chunk, index) => (
          <ChunkView key={chunk.id} document={document} chunk={chunk} before={all[index - 1]} isCited={chunk.order === wanted} marks={chunk.order === wanted ? marks : NO_MARKS} isPlain={isRaw || !hasForm} />
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
