import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { BadgeCheck, Play, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Confirm } from "../../ui/dialogs";
import { useFormat } from "../../ui/format";
import { Empty, Failure, Loading, Notice } from "../../ui/notices";
import { GoldenDialog, type Origin } from "./GoldenDialog";
import { runAll } from "./runs";
import { byPosition, kindOf, points, pointsByPosition, type Run } from "./shares";

type Question = Schemas["GoldenQuestionEntry"];
type Feedback = Schemas["FeedbackEntry"];

function QuestionRow({ question }: { question: Question }) {
  const texts = useTexts();
  const format = useFormat();
  const api = useApi();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const [isRemoving, setRemoving] = useState(false);
  const { latest } = question;
  const remove = useMutation({
    mutationFn: async () => api.DELETE("/golden-questions/{id}", { params: { path: { id: question.id } } }),
    onSettled: () => queries.invalidateQueries({ queryKey: [workspace, "golden"] }),
  });
  return (
    <tr>
      <th scope="row">
        {question.question}
        <p className="hint">{question.unanswerable ? texts.golden.unanswerable : [...question.facts, ...question.documents].join(" · ")}</p>
        {remove.error && <Failure error={remove.error} />}
      </th>
      <td>
        <span className={`badge ${latest ? (latest.passed ? "processed" : "failed") : ""}`}>
          {latest ? (latest.passed ? texts.golden.passed : texts.golden.failed) : texts.golden.notAsked}
        </span>
        {latest?.why.map((reason) => (
          <p key={reason} className="hint">
            {reason}
          </p>
        ))}
        {latest && <p className="hint">{format.ago(latest.at)}</p>}
      </td>
      <td>{mayWrite && <Button look="quiet" icon={Trash2} label={texts.golden.remove} onPress={() => setRemoving(true)} />}</td>
      {isRemoving && <Confirm title={question.question} text={texts.golden.removeText} action={texts.golden.remove} isOpen onClose={() => setRemoving(false)} onConfirm={() => remove.mutate()} />}
    </tr>
  );
}

function Questions({ questions }: { questions: Question[] }) {
  const texts = useTexts().golden;
  return (
    <div className="wide-table" tabIndex={0} role="region" aria-label={texts.question}>
      <table className="sheet golden">
        <thead>
          <tr>
            <th scope="col">{texts.question}</th>
            <th scope="col">{texts.latest}</th>
            <th scope="col">
              <span className="hidden">{texts.remove}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {questions.map((question) => (
            <QuestionRow key={question.id} question={question} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Which questions failed in a run, and why. */
function FailedQuestions({ run, words }: { run: Run; words: ReadonlyMap<string, string> }) {
  const texts = useTexts().golden;
  if (run.failed.length === 0) return null;
  return (
    <details>
      <summary>{texts.whichFailed}</summary>
      <ul>
        {run.failed.map(({ id, why }) => (
          <li key={id}>
            {words.get(id) ?? id} <span className="hint">{why.join(" · ")}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The share that passed over the states of the documents, once a run has asked the past: else it is the line of the runs. */
function StatesLine({ runs }: { runs: Run[] }) {
  const texts = useTexts().golden;
  const format = useFormat();
  const states = byPosition(runs);
  const [first, last] = [states[0], states.at(-1)];
  if (!first || !last || states.length < 2 || !runs.some((run) => kindOf(run) === "past")) return null;
  return (
    <figure>
      <figcaption className="hint">{texts.byState(format.moment(first.position / 1000), format.moment(last.position / 1000))}</figcaption>
      <svg className="golden-line" viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={texts.stateLine(states.length, texts.outcome(last.passed, last.total))}>
        <polyline points={pointsByPosition(states)} />
      </svg>
    </figure>
  );
}

function History({ runs, questions }: { runs: Run[]; questions: Question[] }) {
  const texts = useTexts().golden;
  const format = useFormat();
  const newest = runs.find((run) => kindOf(run) === "live");
  const words = new Map(questions.map(({ id, question }) => [id, question]));
  return (
    <section>
      <h2>{texts.history}</h2>
      {newest && runs.length > 1 && (
        <svg className="golden-line" viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={texts.line(texts.outcome(newest.passed, newest.total))}>
          <polyline points={points(runs)} />
        </svg>
      )}
      <StatesLine runs={runs} />
      <div className="wide-table" tabIndex={0} role="region" aria-label={texts.history}>
        <table className="sheet">
          <thead>
            <tr>
              <th scope="col">{texts.when}</th>
              <th scope="col">{texts.share}</th>
              <th scope="col">{texts.upTo}</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <tr key={run.id}>
                <th scope="row">
                  {format.moment(run.at)} <span className="hint">{[texts.kinds[kindOf(run)], run.reason].filter(Boolean).join(" · ")}</span>
                </th>
                <td>
                  {texts.outcome(run.passed, run.total)}
                  <FailedQuestions run={run} words={words} />
                </td>
                <td>{run.position > 0 ? format.moment(run.position / 1000) : "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function FeedbackList({ onMake }: { onMake: (origin: Origin) => void }) {
  const texts = useTexts().golden;
  const format = useFormat();
  const api = useApi();
  const mayWrite = useMayWrite();
  const feedback = useQuery({
    queryKey: [useWorkspace(), "golden", "feedback"],
    queryFn: async () => data(await api.GET("/feedback", { params: { query: { limit: 50 } } })),
  });
  const origin = (one: Feedback): Origin => ({
    question: one.question,
    feedback: one.id,
    documents: one.rating === "up" ? one.documents.map(({ file_path, id }) => file_path || id) : [],
  });
  return (
    <section>
      <h2>{texts.feedback}</h2>
      {feedback.error && <Failure error={feedback.error} />}
      {feedback.data?.length === 0 && <p className="hint">{texts.noFeedback}</p>}
      <ul className="letters">
        {feedback.data?.map((one) => (
          <li key={one.id}>
            <p>
              <span className="badge">{texts[one.rating]}</span> {one.question}
            </p>
            <p className="hint">{[one.reason, one.actor, format.ago(one.at)].filter(Boolean).join(" · ")}</p>
            {mayWrite && (
              <Button look="quiet" icon={BadgeCheck} onPress={() => onMake(origin(one))}>
                {texts.make}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Golden questions with their last result, their runs, and what people say of answers. */
export function GoldenQuestions() {
  const texts = useTexts().golden;
  const api = useApi();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const [progress, setProgress] = useState("");
  const [origin, setOrigin] = useState<Origin | undefined>(undefined);
  const questions = useQuery({ queryKey: [workspace, "golden", "questions"], queryFn: async () => data(await api.GET("/golden-questions")) });
  const runs = useQuery({ queryKey: [workspace, "golden", "runs"], queryFn: async () => data(await api.GET("/golden-runs")) });
  const run = useMutation({
    mutationFn: async () => {
      const ended = await runAll(workspace, (n, of) => setProgress(texts.running(n, of)));
      if (!ended) throw new Error(texts.broken);
      return ended;
    },
    onSettled: () => {
      setProgress("");
      return queries.invalidateQueries({ queryKey: [workspace, "golden"] });
    },
  });
  if (questions.isPending) return <Loading />;
  if (questions.error) return <Failure error={questions.error} retry={() => void questions.refetch()} />;
  const isEmpty = questions.data.length === 0;
  const addButton = (
    <Button look="quiet" icon={Plus} onPress={() => setOrigin({ question: "", feedback: "", documents: [] })}>
      {texts.add}
    </Button>
  );
  return (
    <>
      {isEmpty ? (
        <Empty icon={BadgeCheck} title={texts.none}>
          <p>{texts.noneText}</p>
          {mayWrite && addButton}
        </Empty>
      ) : (
        <>
          {mayWrite && (
            <div className="add">
              <Button icon={Play} isDisabled={run.isPending} onPress={() => run.mutate()}>
                {progress || texts.run}
              </Button>
              {addButton}
            </div>
          )}
          {run.error && <Failure error={run.error} />}
          {run.data && <Notice>{texts.outcome(run.data.passed, run.data.total)}</Notice>}
          <Questions questions={questions.data} />
        </>
      )}
      {runs.data && runs.data.length > 0 && <History runs={runs.data} questions={questions.data} />}
      <FeedbackList onMake={setOrigin} />
      {origin && <GoldenDialog origin={origin} onClose={() => setOrigin(undefined)} />}
    </>
  );
}
