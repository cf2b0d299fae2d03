import { useMutation } from "@tanstack/react-query";
import { MessagesSquare } from "lucide-react";
import { useState } from "react";
import { useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Failure } from "../../ui/notices";
import { type ComparedAnswer, type ComparedAnswers, compareAnswers } from "../golden/runs";

function Side({ title, answer }: { title: string; answer: ComparedAnswer }) {
  const texts = useTexts().operations.branchTab;
  return (
    <section>
      <h4>
        {title} <span className={answer.passed ? "badge processed" : "badge failed"}>{answer.passed ? texts.passed : texts.notPassed}</span>
      </h4>
      <p>{answer.answer}</p>
      <p className="hint">{[...answer.sources, ...answer.why].join(" · ")}</p>
    </section>
  );
}

/** The golden questions with the answers of a branch and of its origin side by side, once they are asked for: models are paid. */
export function BranchAnswers({ name }: { name: string }) {
  const texts = useTexts().operations.branchTab;
  const workspace = useWorkspace();
  const [answers, setAnswers] = useState<ComparedAnswers[]>([]);
  const ask = useMutation({
    mutationFn: async () => {
      setAnswers([]);
      await compareAnswers(workspace, name, (line) => setAnswers((before) => [...before, line]));
    },
  });
  const last = answers.at(-1);
  return (
    <section aria-label={texts.answersOfBoth}>
      <Button icon={MessagesSquare} isDisabled={ask.isPending} onPress={() => ask.mutate()}>
        {texts.askBoth}
      </Button>
      {ask.isPending && last && <span role="status">{texts.asked(answers.length, last.of)}</span>}
      {ask.error && <Failure error={ask.error} />}
      {ask.isSuccess && answers.length === 0 && <p role="status">{texts.noQuestions}</p>}
      {answers.map(({ id, question, origin, branch }) => (
        <details key={id} open={origin.passed !== branch.passed}>
          <summary>{question}</summary>
          <Side title={texts.here} answer={origin} />
          <Side title={texts.inBranch} answer={branch} />
        </details>
      ))}
    </section>
  );
}
