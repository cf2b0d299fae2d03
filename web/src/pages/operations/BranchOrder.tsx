import { useQuery } from "@tanstack/react-query";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { useFormat, useMoney } from "../../ui/format";

const WATCHED = 1_000;
const IDLE = 10_000;

type Last = Schemas["LastBranchOrder"];

interface Estimate {
  documents: number;
  chunks: number;
  currency: string;
  money: number | null;
  models: { model: string; calls: number; prompt: number; completion: number }[];
}

/** What became of the last order about a branch, asked again while it is worked on. */
export function useBranchOrders() {
  const api = useApi();
  const workspace = useWorkspace();
  return useQuery({
    queryKey: [workspace, "branch-orders"],
    queryFn: async () => data(await api.GET("/branches/orders")),
    refetchInterval: (query) => (query.state.data?.last?.state === "running" ? WATCHED : IDLE),
  });
}

/** What a branch would cost at most. */
function EstimatedCost({ estimate }: { estimate: Estimate }) {
  const texts = useTexts().operations;
  const format = useFormat();
  const money = useMoney();
  return (
    <>
      <p>
        {texts.branchTab.estimated(estimate.documents, estimate.chunks)}
        {estimate.money !== null && <strong> {money(estimate.money, estimate.currency)}</strong>}
      </p>
      {estimate.models.length === 0 && <p className="hint">{texts.branchTab.nothingPaid}</p>}
      <ul>
        {estimate.models.map(({ model, calls, prompt, completion }) => (
          <li key={model} className="hint">
            {model}: {texts.calls(calls)}, {format.compact(prompt + completion)} {texts.tokens}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The last order, with its estimate or why it failed. */
export function BranchOrder({ last }: { last: Last }) {
  const texts = useTexts().operations;
  const format = useFormat();
  const isEstimate = last.step === "branch-estimate" && last.state === "done";
  return (
    <div className={`last-order ${last.state}`} role="status">
      <p>
        <strong>{texts.branchTab.steps[last.step] ?? last.step}</strong> {last.branch} {texts.orderStates[last.state]}
        <span className="hint">{[" ", format.ago(last.ended || last.started), last.who, last.reason].filter(Boolean).join(" · ")}</span>
      </p>
      {last.error && <p className="fault">{last.error}</p>}
      {isEstimate && <EstimatedCost estimate={last.result as unknown as Estimate} />}
    </div>
  );
}
