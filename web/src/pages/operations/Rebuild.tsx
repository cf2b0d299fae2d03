import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { data, type Schemas, useApi } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button, Select, TextInput } from "../../ui/controls";
import { Confirm } from "../../ui/dialogs";
import { Failure, Loading, Notice } from "../../ui/notices";
import { LastOrder } from "./LastOrder";

type Step = "start" | "promote" | "rollback" | "cleanup";
const CHOICES = ["all", "status", "graph", "vectors"] as const;
type What = (typeof CHOICES)[number];
type Status = Schemas["RebuildStatus"];

/** As many as the server takes. */
const MOST_QUESTIONS = 20;

const WATCHED = 1_000;
const IDLE = 10_000;

const isRunning = (status: Status | undefined) => Boolean(status?.running) || status?.last?.state === "running";

/** The generations by name: `graph 3, vectors 2`. */
function useNames() {
  const texts = useTexts().operations;
  return (generations: Record<string, number>) =>
    Object.entries(generations)
      .map(([name, generation]) => `${texts.projectionNames[name]} ${generation}`)
      .join(", ");
}

/** How far a rebuild under way is. */
export function Progress({ running }: { running: NonNullable<Status["running"]> }) {
  const texts = useTexts().operations;
  const { phase, done, total, rate, seconds_left: left } = running.progress as { phase?: string; done?: number; total?: number; rate?: number; seconds_left?: number };
  if (!phase) return <Loading />;
  const share = total ? Math.min(1, (done ?? 0) / total) : 0;
  return (
    <div className="progress">
      <span className="track" role="progressbar" aria-label={phase} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(share * 100)}>
        <span className="fill" style={{ width: `${share * 100}%` }} />
      </span>
      <p role="status">
        {texts.phase(phase, done ?? 0, total)}
        {rate ? ` · ${texts.perSecond(rate)}` : ""}
        {left ? ` · ${texts.secondsLeft(left)}` : ""}
      </p>
    </div>
  );
}

function Plan({ what }: { what: What }) {
  const texts = useTexts().operations;
  const api = useApi();
  const names = useNames();
  const plan = useQuery({
    queryKey: ["", "rebuild-plan", what],
    queryFn: async () => data(await api.GET("/operations/rebuild/plan", { params: { query: { projection: what } } })),
  });
  if (plan.error) return <Failure error={plan.error} />;
  if (!plan.data) return null;
  return (
    <p className="hint">
      {texts.plan(plan.data.events, names(plan.data.generations))} {plan.data.seconds !== null && texts.planSeconds(plan.data.seconds)}
    </p>
  );
}

/** Lets what waits go live although golden questions fare worse. */
export function AcceptWorse({ waits, isOn, onChange }: { waits: boolean; isOn: boolean; onChange: (isOn: boolean) => void }) {
  const texts = useTexts().operations;
  if (!waits) return null;
  return (
    <button type="button" className="chip" aria-pressed={isOn} onClick={() => onChange(!isOn)}>
      {texts.acceptWorse}
    </button>
  );
}

/** The steps that make sense now; all but the first ask again before they are ordered. */
function Orders({ status, hasPrevious }: { status: Status; hasPrevious: boolean }) {
  const texts = useTexts().operations;
  const api = useApi();
  const queries = useQueryClient();
  const [what, setWhat] = useState<What>("all");
  const [reason, setReason] = useState("");
  const [written, setWritten] = useState("");
  const [acceptsWorse, setAcceptsWorse] = useState(false);
  const [asking, setAsking] = useState<Step | "">("");
  const order = useMutation({
    mutationFn: async (step: Step) => {
      await api.POST("/operations/rebuild/{step}", {
        params: { path: { step } },
        body: { projection: what, events_per_second: 0, embedding_model: "", embedding_dim: 0, reason, accept_worse: acceptsWorse, questions: step === "start" ? questions : [] },
      });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["", "rebuild"] }),
  });
  const hasVectors = what === "vectors" || what === "all";
  const questions = hasVectors ? written.split("\n").map((line) => line.trim()).filter(Boolean).slice(0, MOST_QUESTIONS) : [];
  const isOff = isRunning(status) || order.isPending || !status.takes_orders;
  const waiting = Object.keys(status.candidate?.generations ?? {}).map((name) => texts.projectionNames[name]);
  const chosen = asking === "promote" ? waiting.join(", ") : (texts.projectionNames[what] ?? what);
  const explained: Record<Step, string> = { start: texts.rebuildText, promote: texts.promoteText, rollback: texts.rollbackText, cleanup: texts.cleanupText };
  return (
    <>
      {!status.takes_orders && <Notice kind="warning">{texts.noOperator}</Notice>}
      {order.error && <Failure error={order.error} />}
      <div className="form-row">
        <Select label={texts.what} value={what} onChange={setWhat} choices={CHOICES.map((id) => ({ id, name: texts.projectionNames[id] ?? id }))} />
        <TextInput label={texts.reason} value={reason} onChange={setReason} />
      </div>
      {hasVectors && !status.candidate && (
        <TextInput label={texts.questions} hint={texts.questionsText(MOST_QUESTIONS)} value={written} onChange={setWritten} rows={3} />
      )}
      <Plan what={what} />
      <AcceptWorse waits={status.candidate !== null} isOn={acceptsWorse} onChange={setAcceptsWorse} />
      <div className="add">
        <Button look={status.candidate ? "plain" : "primary"} isDisabled={isOff || status.candidate !== null} onPress={() => order.mutate("start")}>
          {texts.start}
        </Button>
        {status.candidate && (
          <Button look="primary" isDisabled={isOff} onPress={() => setAsking("promote")}>
            {texts.promote}
          </Button>
        )}
        {hasPrevious && (
          <Button isDisabled={isOff} onPress={() => setAsking("rollback")}>
            {texts.rollback}
          </Button>
        )}
        <Button look="danger" isDisabled={isOff} onPress={() => setAsking("cleanup")}>
          {texts.cleanup}
        </Button>
      </div>
      {asking && (
        <Confirm
          title={texts.sure(texts[asking], chosen)}
          text={explained[asking]}
          action={texts[asking]}
          isOpen
          onClose={() => setAsking("")}
          onConfirm={() => order.mutate(asking)}
        />
      )}
    </>
  );
}

/** How rebuilds stand, asked again while one is under way. */
export function useRebuild() {
  const api = useApi();
  return useQuery({
    queryKey: ["", "rebuild"],
    queryFn: async () => data(await api.GET("/operations/rebuild")),
    refetchInterval: (query) => (isRunning(query.state.data) ? WATCHED : IDLE),
  });
}

/** Making projections anew from the log: order it, watch it, switch to it, go back. */
export function Rebuild({ projections }: { projections: Schemas["ProjectionState"][] }) {
  const texts = useTexts().operations;
  const mayWrite = useMayWrite();
  const names = useNames();
  const status = useRebuild();
  if (status.isPending) return <Loading />;
  if (status.error) return <Failure error={status.error} retry={() => void status.refetch()} />;
  const { running, candidate, last } = status.data;
  return (
    <section className="box">
      <h2>{texts.rebuild}</h2>
      <p className="hint">{texts.rebuildText}</p>
      {running && <Progress running={running} />}
      {candidate && !running && <Notice>{texts.candidate(names(candidate.generations), candidate.position)}</Notice>}
      {mayWrite && <Orders status={status.data} hasPrevious={projections.some(({ previous }) => previous !== null)} />}
      {last && <LastOrder last={last} />}
    </section>
  );
}
