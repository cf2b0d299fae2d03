import { useQuery } from "@tanstack/react-query";
import { data, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Failure } from "../../ui/notices";
import { byCause } from "./causes";

/** Failures that are read: the newest ones, for a cause that matters is among them. */
const MOST = 500;

/** Why things failed in this workspace, the most frequent cause first; nothing where nothing did. */
export function Causes() {
  const texts = useTexts().log;
  const api = useApi();
  const failed = useQuery({
    queryKey: [useWorkspace(), "failures"],
    queryFn: async () => data(await api.GET("/events", { params: { query: { type: ["StageFailed"], limit: MOST } } })).events,
    refetchInterval: 15_000,
  });
  if (failed.error) return <Failure error={failed.error} />;
  const causes = byCause((failed.data ?? []).map((event) => ({ stage: event.stage ?? "", reason: event.text })));
  if (causes.length === 0) return null;
  return (
    <section className="causes">
      <h2>{texts.causes}</h2>
      <ul>
        {causes.map(({ stage, reason, count }) => (
          <li key={`${stage} ${reason}`}>
            <strong>{texts.times(count)}</strong> <span className="badge">{stage}</span> <span>{reason}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
