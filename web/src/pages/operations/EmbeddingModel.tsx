import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useConfiguration } from "../../api/configuration";
import { useMayWrite, useSeesAll } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button, Select, TextInput } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Failure, Loading, Notice } from "../../ui/notices";
import { type Estimate, EstimatedCost } from "./EstimatedCost";
import { AcceptWorse, Progress, useRebuild } from "./Rebuild";

const WATCHED = 1_000;
const IDLE = 10_000;

/** The choice that names no model: a workspace has that of the whole stack then. */
const OF_STACK = "stack";

type Status = Schemas["EmbeddingStatus"];
type Last = Schemas["LastEmbeddingOrder"];
type Step = "estimate" | "set";

/** The model of the workspace and what became of the last order about it, asked again while one is worked on. */
function useEmbedding() {
  const api = useApi();
  const workspace = useWorkspace();
  return useQuery({
    queryKey: [workspace, "embedding"],
    queryFn: async () => data(await api.GET("/operations/embedding")),
    refetchInterval: (query) => (query.state.data?.last?.state === "running" ? WATCHED : IDLE),
  });
}

/** What embedding everything by another model takes. */
function EmbeddingCost({ estimate }: { estimate: Estimate & { model: string; texts: number; cached_texts: number } }) {
  const texts = useTexts().operations.embeddingTab;
  return <EstimatedCost estimate={estimate}>{texts.estimated(estimate.texts, estimate.cached_texts, estimate.model)}</EstimatedCost>;
}

/** The last order, with its estimate, the model that embeds since, or why it failed. */
function EmbeddingOrder({ last }: { last: Last }) {
  const texts = useTexts().operations;
  const format = useFormat();
  const isDone = last.state === "done";
  return (
    <div className={`last-order ${last.state}`} role="status">
      <p>
        <strong>{texts.embeddingTab.steps[last.step] ?? last.step}</strong> {texts.orderStates[last.state]}
        <span className="hint">{[" ", format.ago(last.ended || last.started), last.who, last.reason].filter(Boolean).join(" · ")}</span>
      </p>
      {last.error && <p className="fault">{last.error}</p>}
      {isDone && last.step === "embedding-estimate" && <EmbeddingCost estimate={last.result as unknown as Parameters<typeof EmbeddingCost>[0]["estimate"]} />}
      {isDone && last.step === "embedding-set" && <p>{texts.embeddingTab.embeds(String(last.result.model ?? ""))}</p>}
    </div>
  );
}

/** How far a rebuild is, of which the new vectors are one. */
function UnderWay() {
  const { data: status } = useRebuild();
  return status?.running ? <Progress running={status.running} /> : null;
}

/** Asks which model is wanted; it is changed once its estimate has been shown. */
function EmbeddingForm({ status }: { status: Status }) {
  const texts = useTexts().operations;
  const words = texts.embeddingTab;
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const [model, setModel] = useState(status.chosen_model || OF_STACK);
  const [reason, setReason] = useState("");
  const [acceptsWorse, setAcceptsWorse] = useState(false);
  const [estimated, setEstimated] = useState({ id: "", model: "" });
  const order = useMutation({
    mutationFn: async (step: Step) => {
      const body = { model: model === OF_STACK ? "" : model, reason, accept_worse: acceptsWorse };
      const { id } = data(await api.POST("/operations/embedding/{step}", { params: { path: { step } }, body }));
      setEstimated(step === "estimate" ? { id, model } : { id: "", model: "" });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [workspace, "embedding"] }),
  });
  const { last } = status;
  const isBusy = last?.state === "running" || order.isPending || !status.takes_orders;
  const isSame = model === (status.chosen_model || OF_STACK);
  const isEstimated = estimated.id === last?.id && estimated.model === model && last.state === "done";
  const choices = [{ id: OF_STACK, name: words.ofStack }, ...status.choices.map((id) => ({ id, name: id }))];
  const hasFailed = last?.step === "embedding-set" && last.state === "failed";
  return (
    <>
      {!status.takes_orders && <Notice kind="warning">{texts.noOperator}</Notice>}
      {order.error && <Failure error={order.error} />}
      <div className="form-row">
        <Select label={words.model} value={model} choices={choices} onChange={setModel} />
        <TextInput label={texts.reason} value={reason} onChange={setReason} />
      </div>
      <AcceptWorse waits={hasFailed} isOn={acceptsWorse} onChange={setAcceptsWorse} />
      <div className="add">
        <Button isDisabled={isBusy || isSame} onPress={() => order.mutate("estimate")}>
          {words.estimate}
        </Button>
        <Button look="primary" isDisabled={isBusy || isSame || !(isEstimated || acceptsWorse)} onPress={() => order.mutate("set")}>
          {words.change}
        </Button>
      </div>
    </>
  );
}

/** The embedding model of this workspace: which it is, what another one takes, and changing it. */
export function EmbeddingModel() {
  const texts = useTexts().operations.embeddingTab;
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const seesAll = useSeesAll();
  const mayOrder = useMayWrite() && seesAll;
  const configuration = useConfiguration();
  const status = useEmbedding();
  const last = status.data?.last;
  const chosen = status.data?.chosen_model;
  useEffect(() => {
    if (chosen !== undefined) void Promise.all(["health", "languages"].map((what) => queries.invalidateQueries({ queryKey: [workspace, what] })));
  }, [chosen, queries, workspace]);
  if (status.isPending) return <Loading />;
  if (status.error) return <Failure error={status.error} retry={() => void status.refetch()} />;
  return (
    <section className="box" aria-label={texts.title(workspace)}>
      <h2>{texts.title(workspace)}</h2>
      <p>
        {configuration?.embedding_model} <span className="hint">{chosen ? texts.chosen(chosen) : texts.ofStack}</span>
      </p>
      <p className="hint">{texts.text}</p>
      {last && <EmbeddingOrder last={last} />}
      {last?.state === "running" && last.step === "embedding-set" && <UnderWay />}
      {mayOrder && <EmbeddingForm key={`${workspace} ${chosen}`} status={status.data} />}
    </section>
  );
}
