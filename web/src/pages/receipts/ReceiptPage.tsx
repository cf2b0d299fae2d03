import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { Link, useParams } from "react-router";
import { ApiError, data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { CopyButton } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Failure, Loading, Notice } from "../../ui/notices";
import { Evidence } from "./Evidence";
import { Replay } from "./Replay";
import { Verify } from "./Verify";

type Receipt = Schemas["ReceiptResponse"];
type Recorded = Receipt["event"]["question"];

/** Times that a receipt is asked for: it reaches the log after its answer. */
const TRIES = 10;

function Text({ title, recorded }: { title: string; recorded: Recorded }) {
  const texts = useTexts().receipts;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {recorded.text === null || recorded.text === undefined ? (
        <p className="hint">
          {texts.hashed}: {recorded.sha256}
        </p>
      ) : (
        <p className="plain">{recorded.text}</p>
      )}
    </section>
  );
}

function Facts({ receipt }: { receipt: Receipt }) {
  const texts = useTexts().receipts;
  const format = useFormat();
  const { event } = receipt;
  const { mode, chosen_mode: chosen } = event.settings;
  const asker = receipt.asker ?? "–";
  const facts: [string, string][] = [
    [texts.asked, format.moment(event.asked_at)],
    [texts.asker, event.viewer ? texts.asFor(asker, event.viewer.join(", ") || texts.everyone) : asker],
    [texts.position, String(event.position)],
    [texts.mode, chosen ? `${mode} → ${chosen}` : mode],
    [texts.model, [event.by_model ? (event.model ?? "") : texts.noModel, event.is_cached && texts.cached].filter(Boolean).join(", ")],
    [texts.end, texts.ends[event.end ?? "whole"] ?? ""],
    ...(event.costs ?? []).map(({ step, model, usage }): [string, string] => [texts.cost, texts.tokens(step, model, format.number(usage.prompt ?? 0), format.number(usage.completion ?? 0))]),
    ...(event.prompt_sha256 ? ([[texts.prompt, event.prompt_sha256]] as [string, string][]) : []),
    [texts.receipt, receipt.id],
  ];
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={`${name} ${value}`}>
          <dt>{name}</dt>
          <dd>
            <span>{value}</span>
            {value === receipt.id && <CopyButton text={value} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The receipt of an answer: what was asked, by whom, from where in the log, and on what the answer rests. */
export default function ReceiptPage() {
  const texts = useTexts().receipts;
  const api = useApi();
  const workspace = useWorkspace();
  const id = useParams().receipt ?? "";
  const receipt = useQuery({
    queryKey: [workspace, "receipt", id],
    queryFn: async () => data(await api.GET("/receipts/{id}", { params: { path: { id } } })),
    retry: (count, error) => count < TRIES && error instanceof ApiError && error.status === 404,
    retryDelay: 500,
  });
  return (
    <div className="page receipt">
      <Link to={`/${workspace}/receipts`} className="back">
        <ArrowLeft size={14} aria-hidden /> {texts.title}
      </Link>
      <header className="title">
        <h1>{texts.receipt}</h1>
      </header>
      {receipt.isPending && <Loading />}
      {receipt.error && <Failure error={receipt.error} retry={() => void receipt.refetch()} />}
      {receipt.data && (
        <>
          {(receipt.data.event.erased_documents ?? []).length > 0 && <Notice kind="warning">{texts.erasedDocuments((receipt.data.event.erased_documents ?? []).join(", "))}</Notice>}
          <Text title={texts.question} recorded={receipt.data.event.question} />
          <Text title={texts.answer} recorded={receipt.data.event.answer} />
          <Facts receipt={receipt.data} />
          <Verify id={id} />
          <Replay id={id} needsQuestion={typeof receipt.data.event.question.text !== "string"} />
          <Evidence evidence={receipt.data.event.evidence} />
        </>
      )}
    </div>
  );
}
