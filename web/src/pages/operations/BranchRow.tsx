import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowUpCircle, Diff, Trash2, Undo2 } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { ApiError, data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useMayWrite, useSeesAll } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Confirm } from "../../ui/dialogs";
import { useFormat, useMoney } from "../../ui/format";
import { Failure } from "../../ui/notices";
import { runAll } from "../golden/runs";
import { BranchComparison } from "./BranchComparison";

type Branch = Schemas["BranchEntry"];

const WATCHED = 2_000;
const IDLE = 15_000;

const isUnderWay = (counts: Record<string, number>) => Boolean((counts.pending ?? 0) + (counts.processing ?? 0));

/** What is other in a branch than in its origin. */
function useDifferences(branch: Branch): string {
  const texts = useTexts().operations.branchTab;
  const parts = [
    branch.extract_model && texts.model(branch.extract_model),
    branch.prompt && texts.prompt,
    branch.entity_types && texts.types,
    branch.chunking && texts.chunking,
    branch.sample ? texts.sample(branch.sample) : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

/** How many documents of a branch are done, and what they have cost. */
function Progress({ name }: { name: string }) {
  const texts = useTexts().operations.branchTab;
  const money = useMoney();
  const api = useApi();
  const status = useQuery({
    queryKey: [useWorkspace(), "branch-status", name],
    queryFn: async () => data(await api.GET("/branches/{name}/status", { params: { path: { name } } })),
    refetchInterval: (query) => (query.state.data && isUnderWay(query.state.data.status_counts) ? WATCHED : IDLE),
  });
  if (!status.data) return null;
  const { status_counts: counts, cost, currency } = status.data;
  return (
    <p role="status">
      {texts.progress(counts.processed ?? 0, counts.all ?? 0)}
      {counts.failed ? ` · ${texts.failed(counts.failed)}` : ""}
      {cost.money !== null ? ` · ${money(cost.money, currency)}` : ""}
    </p>
  );
}

/** Asks the golden questions of the branch, and has it answer; where they fare worse it asks again. */
function Promotion({ branch }: { branch: Branch }) {
  const texts = useTexts().operations.branchTab;
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const [asked, setAsked] = useState("");
  const [runId, setRunId] = useState("");
  const promote = useMutation({
    mutationFn: async (acceptWorse: boolean) => {
      let id = acceptWorse ? runId : "";
      if (!id && data(await api.GET("/golden-questions")).length > 0) {
        id = (await runAll(workspace, (n, of) => setAsked(texts.asked(n, of)), branch.name))?.id ?? "";
        setRunId(id);
      }
      const body = { golden_run: id, accept_worse: acceptWorse, reason: "" };
      await api.POST("/branches/{name}/promote", { params: { path: { name: branch.name } }, body });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [workspace] }),
  });
  const isWorse = promote.error instanceof ApiError && promote.error.status === 409;
  return (
    <>
      {promote.error && <Failure error={promote.error} />}
      {promote.isPending && asked && <span role="status">{asked}</span>}
      <Button icon={ArrowUpCircle} look={isWorse ? "danger" : "plain"} isDisabled={promote.isPending} onPress={() => promote.mutate(isWorse)}>
        {isWorse ? texts.promoteWorse : texts.promote}
      </Button>
    </>
  );
}

function Rollback() {
  const texts = useTexts().operations.branchTab;
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const rollBack = useMutation({
    mutationFn: async () => data(await api.POST("/branches/rollback", { body: { reason: "" } })),
    onSettled: () => queries.invalidateQueries({ queryKey: [workspace] }),
  });
  return (
    <>
      {rollBack.error && <Failure error={rollBack.error} />}
      <Button icon={Undo2} isDisabled={rollBack.isPending} onPress={() => rollBack.mutate()}>
        {texts.rollBack}
      </Button>
    </>
  );
}

function Drop({ name, isBusy }: { name: string; isBusy: boolean }) {
  const texts = useTexts().operations.branchTab;
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const drop = useMutation({
    mutationFn: () => api.POST("/branches/{name}/drop", { params: { path: { name } } }),
    onSettled: () => queries.invalidateQueries({ queryKey: [workspace, "branch-orders"] }),
  });
  return (
    <>
      {drop.error && <Failure error={drop.error} />}
      <Button look="danger" icon={Trash2} isDisabled={isBusy || drop.isPending} onPress={() => setAsking(true)}>
        {texts.drop}
      </Button>
      {isAsking && <Confirm title={`${texts.drop}: ${name}`} text={texts.dropText} action={texts.drop} isOpen onClose={() => setAsking(false)} onConfirm={() => drop.mutate()} />}
    </>
  );
}

/**
 * A branch: what is other in it, how far it is, and what can be done with it. `isBusy`: another order is worked on.
 * `isLeaving`: it is being dropped, or just was, so nothing is asked of it any more.
 */
export function BranchRow({ branch, isBusy, isLeaving }: { branch: Branch; isBusy: boolean; isLeaving: boolean }) {
  const texts = useTexts().operations.branchTab;
  const format = useFormat();
  const mayWrite = useMayWrite();
  const seesAll = useSeesAll();
  const [isCompared, setCompared] = useState(false);
  return (
    <li className="branch">
      <div>
        <Link to={`/${branch.workspace}/documents`}>{branch.name}</Link> {branch.promoted && <span className="badge processed">{texts.answers}</span>}
        <p>{useDifferences(branch)}</p>
        {!isLeaving && <Progress name={branch.name} />}
        <p className="hint">{[format.moment(branch.created_at), branch.actor, branch.reason].filter(Boolean).join(" · ")}</p>
        {isCompared && <BranchComparison name={branch.name} />}
      </div>
      <Button icon={Diff} onPress={() => setCompared(!isCompared)} aria-expanded={isCompared}>
        {texts.compare}
      </Button>
      {mayWrite && (branch.promoted ? <Rollback /> : !branch.sample && <Promotion branch={branch} />)}
      {mayWrite && seesAll && !branch.promoted && <Drop name={branch.name} isBusy={isBusy} />}
    </li>
  );
}
