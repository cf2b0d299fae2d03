import { useTexts } from "../../texts";
import { useFormat } from "../../ui/format";
import { progress, STAGES } from "./stages";
import type { Document } from "./useDocuments";
import { batchText, type Waiting } from "./waiting";

export function StatusBadge({ status }: { status: string }) {
  const texts = useTexts();
  return (
    <span className={`badge ${status}`} title={texts.documents.statusHelp[status]}>
      {texts.documents.statuses[status] ?? status}
    </span>
  );
}

/** A document's way through the services, one short bar for each. */
export function StageBars({ document, named = false }: { document: Document; named?: boolean }) {
  const texts = useTexts();
  return (
    <ol className={named ? "stages named" : "stages"}>
      {STAGES.map((stage) => {
        const { done, all } = progress(document, stage);
        const name = texts.documents.stages[stage];
        const share = all ? done / all : 0;
        return (
          <li key={stage} title={texts.documents.stageOf(name, done, all)}>
            <span className="track">
              <span className="fill" style={{ width: `${share * 100}%` }} />
            </span>
            <span className={named ? "" : "hidden"}>
              {named ? name : texts.documents.stageOf(name, done, all)}
              {named && stage !== "chunks" && ` ${done}/${all}`}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/** What a document waits for, in a sentence. */
export function WaitsFor({ stage, ahead, paused, exceeded, batch }: Waiting) {
  const texts = useTexts().documents;
  const format = useFormat();
  const until = paused?.paused_until ? new Date(paused.paused_until).toLocaleTimeString() : "";
  const turn = texts.waitsForStage[stage] + (ahead > 0 ? texts.ahead(format.number(ahead)) : "");
  const why = exceeded || batchText(batch, texts) || (paused ? texts.waitsForProvider(paused.name, until, paused.reason) : turn);
  return <span className="summary">{why}</span>;
}

export const isUnderWay = (status: string) => !["processed", "partial", "failed"].includes(status);
