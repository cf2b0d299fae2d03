import { ArrowDown, ArrowUp } from "lucide-react";
import { Checkbox } from "react-aria-components";
import { Link } from "react-router";
import { useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { useFormat } from "../../ui/format";
import { isUnderWay, StageBars, StatusBadge } from "./Status";
import type { Document, Listing, Sort } from "./useDocuments";

type TableProps = {
  documents: Document[];
  listing: Listing;
  selected: ReadonlySet<string>;
  onSelect: (selected: Set<string>) => void;
};

function Tick({ label, on, onChange }: { label: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <Checkbox className="tick" aria-label={label} isSelected={on} onChange={onChange}>
      <span className="box" aria-hidden />
    </Checkbox>
  );
}

function SortHeader({ sort, name, listing }: { sort: Sort; name: string; listing: Listing }) {
  const texts = useTexts();
  const isSorted = listing.sort === sort;
  const Arrow = listing.descending ? ArrowDown : ArrowUp;
  const descending = isSorted ? !listing.descending : sort !== "file_path";
  return (
    <th scope="col" aria-sort={isSorted ? (listing.descending ? "descending" : "ascending") : "none"}>
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

function Row({
  document,
  isSelected,
  onSelect,
}: {
  document: Document;
  isSelected: boolean;
  onSelect: (on: boolean) => void;
}) {
  const texts = useTexts();
  const format = useFormat();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  return (
    <tr className={isSelected ? "selected" : ""}>
      {mayWrite && (
        <td className="choose">
          <Tick label={texts.documents.select(document.file_path)} on={isSelected} onChange={onSelect} />
        </td>
      )}
      <td className="what">
        <Link to={`/${workspace}/documents/${encodeURIComponent(document.id)}`} title={document.file_path}>
          {document.file_path}
        </Link>
        <span className="summary">{document.content_summary}</span>
        {document.error_msg && <span className="fault">{document.error_msg}</span>}
      </td>
      <td className="state">
        <StatusBadge status={document.status} />
        {isUnderWay(document.status) && <StageBars document={document} />}
      </td>
      <td className="number">{format.number(document.chunks_count)}</td>
      <td className="number" title={texts.documents.characters(document.content_length)}>
        {format.compact(document.content_length)}
      </td>
      <td className="time" title={format.moment(document.created_at)}>
        {format.ago(document.created_at)}
      </td>
      <td className="time" title={format.moment(document.updated_at)}>
        {format.ago(document.updated_at)}
      </td>
    </tr>
  );
}

/** A page of the documents of the workspace. */
export function DocumentTable({ documents, listing, selected, onSelect }: TableProps) {
  const texts = useTexts();
  const mayWrite = useMayWrite();
  const isAll = documents.length > 0 && documents.every(({ id }) => selected.has(id));
  const toggle = (id: string, on: boolean) => {
    const next = new Set(selected);
    if (on) next.add(id);
    else next.delete(id);
    onSelect(next);
  };
  return (
    <table className="documents">
      <thead>
        <tr>
          {mayWrite && (
            <th scope="col" className="choose">
              <Tick
                label={texts.documents.selectAll}
                on={isAll}
                onChange={(on) => onSelect(new Set(on ? documents.map(({ id }) => id) : []))}
              />
            </th>
          )}
          <SortHeader sort="file_path" name={texts.documents.name} listing={listing} />
          <th scope="col">{texts.documents.status}</th>
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
        {documents.map((document) => (
          <Row
            key={document.id}
            document={document}
            isSelected={selected.has(document.id)}
            onSelect={(on) => toggle(document.id, on)}
          />
        ))}
      </tbody>
    </table>
  );
}
