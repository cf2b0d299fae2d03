import { useQuery } from "@tanstack/react-query";
import type { ComponentProps } from "react";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { useFormat } from "../../ui/format";
import { type Estimate, EstimatedCost } from "./EstimatedCost";

const WATCHED = 1_000;
const IDLE = 10_000;

type Last = Schemas["LastBranchOrder"];

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
function BranchCost({ estimate }: { estimate: Estimate & { documents: number; chunks: number } }) {
  const texts = useTexts().operations.branchTab;
  return <EstimatedCost estimate={estimate}>{texts.estimated(estimate.documents, estimate.chunks)}</EstimatedCost>;
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
      {isEstimate && <BranchCost estimate={last.result as unknown as ComponentProps<typeof BranchCost>["estimate"]} />}
    </div>
  );
}
