import type { ReactNode } from "react";
import { Link } from "react-router";
import { type Schemas, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";

type EvidenceOfAnswer = NonNullable<Schemas["ReceiptResponse"]["event"]["evidence"]>;

function Section({ title, count, children }: { title: string; count: number; children: ReactNode }) {
  return (
    <details open={count > 0 && count <= 12}>
      <summary>
        {title} <span>{count}</span>
      </summary>
      <ul>{children}</ul>
    </details>
  );
}

/** On what an answer rests: each passage leads to its place in the document, each name to the graph. */
export function Evidence({ evidence }: { evidence: EvidenceOfAnswer | undefined }) {
  const texts = useTexts().receipts;
  const workspace = useWorkspace();
  const { passages = [], entities = [], relations = [] } = evidence ?? {};
  const graph = (name: string) => `/${workspace}/graph?entity=${encodeURIComponent(name)}`;
  return (
    <section className="evidence" aria-label={texts.evidence}>
      <h2>{texts.evidence}</h2>
      <Section title={texts.passages} count={passages.length}>
        {passages.map(({ chunk_id: chunk, document_id: document, file_path: file, sha256, reference }) => (
          <li key={chunk}>
            {reference && `[${reference}] `}
            <Link to={`/${workspace}/documents/${encodeURIComponent(document)}?chunk=${encodeURIComponent(chunk)}`}>{file || document}</Link>{" "}
            <span className="hint">
              {chunk} · {sha256 ? sha256.slice(0, 12) : texts.erased}
            </span>
          </li>
        ))}
      </Section>
      <Section title={texts.entities} count={entities.length}>
        {entities.map(({ id, name, support }) => (
          <li key={id}>
            {name ? <Link to={graph(name)}>{name}</Link> : id} <span className="hint">{texts.support(support ?? 0)}</span>
          </li>
        ))}
      </Section>
      <Section title={texts.relations} count={relations.length}>
        {relations.map(({ id, source, target, support }) => (
          <li key={id}>
            {source ? (
              <Link to={graph(source)}>
                {source} – {target}
              </Link>
            ) : (
              id
            )}{" "}
            <span className="hint">{texts.support(support ?? 0)}</span>
          </li>
        ))}
      </Section>
    </section>
  );
}
