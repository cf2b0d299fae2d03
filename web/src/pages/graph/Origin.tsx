import { useState } from "react";
import { Link } from "react-router";
import { useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Provenance } from "./Provenance";

/** Chunks by their ids alone, as a graph of the past has them. */
function Sources({ ids }: { ids: string[] }) {
  const texts = useTexts();
  const workspace = useWorkspace();
  return (
    <ul className="provenance">
      {ids.map((id) => (
        <li key={id}>
          <Link to={`/${workspace}/documents/${encodeURIComponent(id.replace(/-chunk-\d+$/, ""))}?chunk=${encodeURIComponent(id)}`}>
            {texts.graph.chunkOf(Number(/-chunk-(\d+)$/.exec(id)?.[1] ?? 0) + 1, id.slice(4, 12))}
          </Link>
        </li>
      ))}
    </ul>
  );
}

type OriginProps = { name: string; other?: string; sources: string[]; isPast: boolean };

/** Where an entity or a relation comes from; read when somebody looks. */
export function Origin({ name, other = "", sources, isPast }: OriginProps) {
  const texts = useTexts();
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {texts.graph.provenance} <span>{sources.length}</span>
      </summary>
      {isOpen && (isPast ? <Sources ids={sources} /> : <Provenance name={name} other={other} />)}
    </details>
  );
}
