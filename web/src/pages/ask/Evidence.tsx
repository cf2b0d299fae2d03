import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { data, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Failure, Loading } from "../../ui/notices";
import type { Question } from "./stream";
import { walkAddress, walksOf } from "./walks";

interface Found {
  entities?: { entity_name: string; entity_type: string; description: string }[];
  relationships?: { src_id: string; tgt_id: string; description: string; keywords: string; weight: number }[];
  chunks?: { chunk_id: string; file_path: string; content: string }[];
}

/** Descriptions of several documents stand one after the other, with a mark between them. */
const shown = (description: string) => description.split("<SEP>").join(" · ");

interface Tokens {
  used: number;
  limit: number;
}
type Budget = Partial<Record<"entities" | "relations" | "passages" | "total", Tokens>>;

type SectionProps = { title: string; count: number; tokens?: Tokens | undefined; children: React.ReactNode };

function Section({ title, count, tokens, children }: SectionProps) {
  const texts = useTexts();
  return (
    <details open={count > 0 && count <= 12}>
      <summary>
        {title} <span>{count}</span> {tokens && <span className="hint">· {texts.ask.tokensUsed(tokens.used, tokens.limit)}</span>}
      </summary>
      <ul>{children}</ul>
    </details>
  );
}

type EvidenceProps = { question: Question; numbers: ReadonlyMap<string, number | undefined> };

/** What a question finds, before a model writes anything: entities, relations, passages, and how they were found. `numbers`: of the files that the answer cites. */
export function Evidence({ question, numbers }: EvidenceProps) {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const evidence = useQuery({
    queryKey: [workspace, "evidence", question],
    queryFn: async () => data(await api.POST("/query/data", { body: question as never })),
    staleTime: 60_000,
  });
  if (evidence.isPending) return <Loading />;
  if (evidence.error) return <Failure error={evidence.error} retry={() => void evidence.refetch()} />;
  const { entities = [], relationships = [], chunks = [] } = evidence.data.data as Found;
  const { processing_info: info, token_budget, ...metadata } = evidence.data.metadata;
  const budget = (token_budget ?? {}) as Budget;
  const walks = walksOf(info);
  return (
    <div className="evidence">
      <Section title={texts.ask.entities} count={entities.length} tokens={budget.entities}>
        {entities.map(({ entity_name, entity_type, description }) => (
          <li key={entity_name}>
            <Link to={`/${workspace}/graph?entity=${encodeURIComponent(entity_name)}`}>{entity_name}</Link> <em>{entity_type}</em>
            <p>{shown(description)}</p>
          </li>
        ))}
      </Section>
      <Section title={texts.ask.relations} count={relationships.length} tokens={budget.relations}>
        {relationships.map(({ src_id, tgt_id, description }) => (
          <li key={`${src_id}\n${tgt_id}`}>
            <strong>
              {src_id} – {tgt_id}
            </strong>
            <p>{shown(description)}</p>
          </li>
        ))}
      </Section>
      <Section title={texts.ask.passages} count={chunks.length} tokens={budget.passages}>
        {chunks.map(({ chunk_id, file_path, content }) => (
          <li key={chunk_id}>
            <Link to={`/${workspace}/documents/${encodeURIComponent(chunk_id.replace(/-chunk-\d+$/, ""))}?chunk=${encodeURIComponent(chunk_id)}`}>
              {numbers.has(file_path) && `[${numbers.get(file_path)}] `}
              {file_path}
            </Link>
            <p>{content}</p>
          </li>
        ))}
      </Section>
      {walks.length > 0 && (
        <Section title={texts.ask.walks} count={walks.length}>
          {walks.map((walk) => (
            <li key={walk.entities.join("\n")} className="walk-of">
              <span>{walk.entities.join(" → ")}</span>
              <Link to={walkAddress(workspace, walk)}>{texts.ask.draw}</Link>
            </li>
          ))}
        </Section>
      )}
      <details>
        <summary>
          {texts.ask.how} {budget.total && <span className="hint">· {texts.ask.tokensUsed(budget.total.used, budget.total.limit)}</span>}
        </summary>
        <pre>{JSON.stringify({ ...metadata, ...(info as object) }, null, 2)}</pre>
      </details>
    </div>
  );
}
