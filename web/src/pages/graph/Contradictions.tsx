import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Failure, Loading } from "../../ui/notices";

function Statement({ statement }: { statement: Schemas["ContradictingStatement"] }) {
  const workspace = useWorkspace();
  const texts = useTexts().validity;
  const { document_id, chunk_id, file_path, authority, statement: text } = statement;
  return (
    <p>
      <Link to={`/${workspace}/documents/${encodeURIComponent(document_id)}?chunk=${encodeURIComponent(chunk_id)}`}>{file_path}</Link>: {text}
      {authority !== 0 && <span className="hint"> ({texts.authorityOf(authority)})</span>}
    </p>
  );
}

function Pairs({ name, other }: { name: string; other: string }) {
  const texts = useTexts().validity;
  const api = useApi();
  const found = useQuery({
    queryKey: [useWorkspace(), "contradictions", name, other],
    queryFn: async () => data(await api.GET("/graph/contradictions", { params: { query: { name, ...(other ? { other } : {}) } } })),
  });
  if (found.isPending) return <Loading />;
  if (found.error) return <Failure error={found.error} retry={() => void found.refetch()} />;
  const pairs = found.data.contradictions;
  if (pairs.length === 0) return <p className="hint">{texts.noContradictions(found.data.looked_at)}</p>;
  return (
    <>
      <p className="hint">{texts.maybe}</p>
      <ul className="provenance">
        {pairs.map(({ first, second }) => (
          <li key={`${first.statement}\n${second.statement}`}>
            <Statement statement={first} />
            <Statement statement={second} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** What documents in force say differently of an entity or a relation; compared when somebody looks. */
export function Contradictions({ name, other = "" }: { name: string; other?: string }) {
  const texts = useTexts().validity;
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts.contradictions}</summary>
      {isOpen && <Pairs name={name} other={other} />}
    </details>
  );
}
