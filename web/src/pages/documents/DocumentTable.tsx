import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp, Tag } from "lucide-react";
import { type Ref, useEffect, useLayoutEffect, useRef } from "react";
import { Checkbox } from "react-aria-components";
import { Link } from "react-router";
import { useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { useFormat } from "../../ui/format";
import { isMarkdown } from "../../ui/Prose";
import { isUnderWay, StageBars, StatusBadge, WaitsFor } from "./Status";
import { type Document, type Listing, PAGE_SIZE, type Sort } from "./useDocuments";
import { plainSummary } from "./summary";
import { tagsOf } from "./tags";
import { type Surroundings, waitingFor } from "./waiting";

type TableProps = {
  total: number;
  documentAt: (index: number) => Document | undefined;
  /** Is told which pages of the list are in sight. */
  onPages: (pages: number[]) => void;
  listing: Listing;
  surroundings: Surroundings;
  selected: ReadonlySet<string>;
  onSelect: (selected: Set<string>) => void;
  onSelectAll: (on: boolean) => void;
};

/** The height of a row before it is drawn and measured, in pixels, and rows that are drawn on either side of those in sight. */
const ROW = 58;
const BESIDE = 12;

function Tick({ label, on, onChange }: { label: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <Checkbox className="tick" aria-label={label} isSelected={on} onChange={onChange}>
      <span className="mark" aria-hidden />
    </Checkbox>
  );
}

function SortHeader({ sort, name, listing }: { sort: Sort; name: string; listing: Listing }) {
  const texts = useTexts();
  const isSorted = listing.sort === sort;
  const Arrow = listing.descending ? ArrowDown : ArrowUp;
  const descending = isSorted ? !listing.descending : sort !== "file_path";
  return (
    <th scope="col" className={sort === "file_path" ? "" : "when"} aria-sort={isSorted ? (listing.descending ? "descending" : "ascending") : "none"}>
      <button
        type="button"
        title={texts.documents.sortBy(name)}
        onClick={() => listing.change({ sort, descending })}
      >
        {name}
        {isSorted && <Arrow size={13} aria-hidden />}
      </button>
    </th>
  );
}

type RowProps = { index: number; place: Ref<HTMLTableRowElement>; document: Document; surroundings: Surroundings; isSelected: boolean; onSelect: (on: boolean) => void };

function Row({ index, place, document, surroundings, isSelected, onSelect }: RowProps) {
  const texts = useTexts();
  const format = useFormat();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const tags = tagsOf(document).join(", ");
  const waiting = isUnderWay(document.status) ? waitingFor(document, surroundings) : null;
  return (
    <tr ref={place} data-index={index} aria-rowindex={index + 2} className={isSelected ? "selected" : ""}>
      {mayWrite && (
        <td className="choose">
          <Tick label={texts.documents.select(document.file_path)} on={isSelected} onChange={onSelect} />
        </td>
      )}
      <td className="what">
        <Link to={`/${workspace}/documents/${encodeURIComponent(document.id)}`} title={document.file_path}>
          {document.file_path}
        </Link>
        <span className="summary">{isMarkdown(document.file_path) ? plainSummary(document.content_summary) : document.content_summary}</span>
        {tags && (
          <span className="tags-of" title={tags}>
            <Tag size={12} aria-hidden /> <span className="hidden">{texts.document.tags}: </span>
            {tags}
          </span>
        )}
        {waiting && <WaitsFor {...waiting} />}
        {document.error_msg && <span className="fault">{document.error_msg}</span>}
        {document.warnings && document.warnings.length > 0 && (
          <span className="doubt" title={document.warnings.join("\n")}>
            {texts.documents.warnings(document.warnings.length)}: {document.warnings[0]}
          </span>
        )}
      </td>
      <td className="state">
        <StatusBadge status={document.status} />
        {isUnderWay(document.status) && <StageBars document={document} />}
      </td>
      <td className="number">{format.number(document.chunks_count)}</td>
      <td className="number" title={texts.documents.characters(document.content_length)}>
        {format.compact(document.content_length)}
      </td>
      <td className="when" title={format.moment(document.created_at)}>
        {format.ago(document.created_at)}
      </td>
      <td className="when" title={format.moment(document.updated_at)}>
        {format.ago(document.updated_at)}
      </td>
    </tr>
  );
}

/** Where somebody was in each list, to be there again when they come back from a document. */
const places = new Map<string, number>();

/** The rows that are in sight, and how much room those before and behind them take. */
function useRowsInSight(total: number, listing: Listing, onPages: (pages: number[]) => void) {
  const table = useRef<HTMLTableElement>(null);
  const { filter, sort, descending, find } = listing;
  const key = `${useWorkspace()} ${filter} ${sort} ${descending} ${find}`;
  const scrollMargin = table.current?.offsetTop ?? 0;
  const rows = useWindowVirtualizer({ count: total, estimateSize: () => ROW, overscan: BESIDE, scrollMargin });
  const inSight = rows.getVirtualItems();
  const [first, last] = [inSight[0], inSight.at(-1)];
  const before = first ? first.start - scrollMargin : 0;
  const behind = last ? rows.getTotalSize() - (last.end - scrollMargin) : 0;
  const pageOf = (index: number) => Math.floor(index / PAGE_SIZE) + 1;
  const [from, to] = [pageOf(first?.index ?? 0), pageOf(last?.index ?? 0)];

  useEffect(() => onPages(Array.from({ length: to - from + 1 }, (_, number) => from + number)), [from, to, onPages]);
  useLayoutEffect(() => {
    window.scrollTo(0, places.get(key) ?? 0);
    const keep = () => places.set(key, window.scrollY);
    window.addEventListener("scroll", keep, { passive: true });
    return () => window.removeEventListener("scroll", keep);
  }, [key]);
  return { table, rows: inSight, measure: rows.measureElement, before, behind };
}

/** Keeps the room of rows that are not drawn. */
function Room({ height }: { height: number }) {
  return height > 0 ? <tr aria-hidden className="room" style={{ height }} /> : null;
}

/** The documents of the workspace, of which only those in sight are drawn. */
export function DocumentTable({ total, documentAt, onPages, listing, surroundings, selected, onSelect, onSelectAll }: TableProps) {
  const texts = useTexts();
  const mayWrite = useMayWrite();
  const { table, rows, measure, before, behind } = useRowsInSight(total, listing, onPages);
  const toggle = (id: string, on: boolean) => {
    const next = new Set(selected);
    if (on) next.add(id);
    else next.delete(id);
    onSelect(next);
  };
  return (
    <table ref={table} className="documents" aria-rowcount={total + 1}>
      <thead>
        <tr>
          {mayWrite && (
            <th scope="col" className="choose">
              <Tick
                label={texts.documents.selectAll}
                on={selected.size > 0 && selected.size >= total}
                onChange={onSelectAll}
              />
            </th>
          )}
          <SortHeader sort="file_path" name={texts.documents.name} listing={listing} />
          <th scope="col" className="state">
            {texts.documents.status}
          </th>
          <th scope="col" className="number">
            {texts.documents.chunks}
          </th>
          <th scope="col" className="number">
            {texts.documents.size}
          </th>
          <SortHeader sort="created_at" name={texts.documents.added} listing={listing} />
          <SortHeader sort="updated_at" name={texts.documents.updated} listing={listing} />
        </tr>
      </thead>
      <tbody>
        <Room height={before} />
        {rows.map(({ index }) => {
          const document = documentAt(index);
          if (!document)
            return (
              <tr key={index} ref={measure} data-index={index} aria-rowindex={index + 2} className="unread">
                <td colSpan={7}>…</td>
              </tr>
            );
          const select = (on: boolean) => toggle(document.id, on);
          return <Row key={index} index={index} place={measure} document={document} surroundings={surroundings} isSelected={selected.has(document.id)} onSelect={select} />;
        })}
        <Room height={behind} />
      </tbody>
    </table>
  );
}
