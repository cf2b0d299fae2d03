import { Link2, ReceiptText, RotateCw, ScanSearch, Square } from "lucide-react";
import { useMemo, useState, useSyncExternalStore } from "react";
import { Link } from "react-router";
import { liveEvents } from "../../api/live";
import { useLanguage, useTexts } from "../../texts";
import { inLanguage } from "../../texts/server";
import { Button, CopyButton } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Failure, Notice } from "../../ui/notices";
import { Thumbs } from "../golden/Thumbs";
import { Outdated } from "../validity/Outdated";
import { Outweighed } from "../validity/Outweighed";
import { AnswerText, type Citation } from "./AnswerText";
import { linkCitations } from "./citations";
import { again, asMarkdown, begin, changesSince, stop, type Turn } from "./conversation";
import { Evidence } from "./Evidence";
import { address } from "./parameters";
import { Rounds } from "./Rounds";
import { CitedFigures, SourceDialog, SourceList } from "./Sources";

function Foot({ turn, isOpen, onToggle }: { turn: Turn; isOpen: boolean; onToggle: () => void }) {
  const texts = useTexts();
  const language = useLanguage();
  const format = useFormat();
  return (
    <footer>
      <CopyButton text={asMarkdown(turn)} label={texts.ask.copyMarkdown} />
      <Button
        look="quiet"
        icon={Link2}
        label={texts.ask.share}
        onPress={() => void navigator.clipboard.writeText(address(turn.workspace, turn.question))}
      />
      {turn.answer && <Thumbs turn={turn} />}
      {turn.receipt && (
        <Link className="button quiet" to={`/${turn.workspace}/receipts/${turn.receipt}`}>
          <ReceiptText size={16} aria-hidden /> {texts.receipts.receipt}
        </Link>
      )}
      <Button look="quiet" icon={ScanSearch} aria-expanded={isOpen} onPress={onToggle}>
        {texts.ask.evidence}
      </Button>
      <span>
        {texts.ask.took(turn.seconds)}
        {turn.position > 0 && ` · ${texts.ask.asOf(format.moment(turn.position / 1000))}`}
        {!turn.byModel && ` · ${texts.ask.quotation}`}
        {turn.modeReason && (
          <>
            {" · "}
            <abbr title={inLanguage(turn.modeReason, language) ?? turn.modeReason}>{texts.ask.chosenMode(turn.mode)}</abbr>
          </>
        )}
      </span>
    </footer>
  );
}

/** Says when documents have come or gone since the answer was given. */
function Newer({ turn }: { turn: Turn }) {
  const texts = useTexts();
  const live = useSyncExternalStore(liveEvents.subscribe, liveEvents.get);
  const isNewer = live.workspace === turn.workspace && changesSince(live.events, turn.position) > 0;
  if (!isNewer) return null;
  return (
    <Notice>
      <span>{texts.ask.newer}</span>
      <Button look="quiet" icon={RotateCw} onPress={() => void begin(turn.question, turn.workspace)}>
        {texts.ask.again}
      </Button>
    </Notice>
  );
}

function Step({ step, detail }: { step: string; detail: string }) {
  const texts = useTexts();
  return (
    <p className="step" role="status">
      {texts.ask.steps[step] ?? texts.ask.searching} {detail}
    </p>
  );
}

/** What a reader should know of an answer: that there is newer, that it is cut, that its sources are not in force. */
function Remarks({ turn }: { turn: Turn }) {
  const texts = useTexts();
  return (
    <>
      {turn.position > 0 && turn.state !== "asking" && <Newer turn={turn} />}
      {turn.truncated && <Notice>{texts.ask.truncated}</Notice>}
      {turn.promptTruncated && <Notice>{texts.ask.promptTruncated}</Notice>}
      {turn.state !== "asking" && <Outdated sources={turn.outdated ?? []} />}
      {turn.state !== "asking" && <Outweighed statements={turn.outweighed ?? []} />}
      {turn.state === "stopped" && <Notice>{texts.ask.stopped}</Notice>}
      {turn.state === "failed" && <Failure error={turn.error} retry={() => again(turn)} />}
    </>
  );
}

/** A question and its answer, while it is written and afterwards. */
export function TurnView({ turn, isCompared = false }: { turn: Turn; isCompared?: boolean }) {
  const texts = useTexts();
  const [cited, setCited] = useState<Citation | undefined>(undefined);
  const [isOpen, setOpen] = useState(false);
  const { answer: text, references } = turn;
  const answer = useMemo(() => linkCitations(text, references.map(({ reference_id }) => reference_id)), [text, references]);
  return (
    <article className="turn">
      <h2>
        {turn.question.query} {isCompared && <span className="badge">{turn.question.mode ?? texts.ask.modeServer}</span>}
      </h2>
      {turn.question.filter && <p className="hint">{texts.ask.filtered}</p>}
      {turn.state === "asking" && turn.answer === "" && <Step step={turn.step} detail={turn.detail ?? ""} />}
      {turn.answer && (
        <AnswerText answer={answer} references={references} onCite={setCited} />
      )}
      {turn.state === "asking" && (
        <Button icon={Square} onPress={() => stop(turn.id)}>
          {texts.ask.stop}
        </Button>
      )}
      <Remarks turn={turn} />
      {turn.state === "unasked" && (
        <Button icon={RotateCw} onPress={() => again(turn)}>
          {texts.ask.askOnceMore}
        </Button>
      )}
      {turn.state !== "asking" && <CitedFigures references={references} numbers={answer.numbers} asOf={turn.position} />}
      {turn.state !== "asking" && <SourceList references={references} numbers={answer.numbers} onCite={setCited} />}
      {turn.state !== "asking" && <Rounds rounds={turn.rounds ?? []} />}
      {turn.state !== "asking" && turn.state !== "unasked" && <Foot turn={turn} isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />}
      {isOpen && <Evidence question={turn.question} numbers={new Map(references.map(({ file_path, reference_id }) => [file_path, answer.numbers.get(reference_id)]))} />}
      <SourceDialog references={references} citation={cited} numbers={answer.numbers} asOf={turn.position} onClose={() => setCited(undefined)} />
    </article>
  );
}
