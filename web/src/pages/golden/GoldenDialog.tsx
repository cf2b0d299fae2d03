import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type Schemas, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure, Notice } from "../../ui/notices";

/** What a golden question is made of: feedback, or what an answer rests on. */
export interface Origin {
  question: string;
  feedback: string;
  documents: string[];
}

const linesOf = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** Says what must be found for a question. */
export function GoldenDialog({ origin, onClose }: { origin: Origin; onClose: () => void }) {
  const texts = useTexts();
  const words = texts.golden;
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const [question, setQuestion] = useState(origin.question);
  const [facts, setFacts] = useState("");
  const [documents, setDocuments] = useState(origin.documents.join("\n"));
  const [isUnanswerable, setUnanswerable] = useState(false);
  const evidence = isUnanswerable ? { facts: [], documents: [] } : { facts: linesOf(facts), documents: linesOf(documents) };
  const isWhole = question.trim() !== "" && (isUnanswerable || evidence.facts.length + evidence.documents.length > 0);
  const save = useMutation({
    mutationFn: async () => {
      const body: Schemas["GoldenQuestionBody"] = { question, ...evidence, unanswerable: isUnanswerable, note: "", feedback: origin.feedback };
      await api.POST("/golden-questions", { body: { questions: [body] } });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [workspace, "golden"] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Dialog title={words.title} isOpen onClose={onClose} wide>
      <form onSubmit={submit}>
        {save.error && <Failure error={save.error} />}
        {save.isSuccess && <Notice>{words.saved}</Notice>}
        <TextInput label={words.question} value={question} onChange={setQuestion} required />
        <fieldset className="filters">
          <legend className="hidden">{words.unanswerable}</legend>
          <button type="button" className="chip" aria-pressed={isUnanswerable} onClick={() => setUnanswerable(!isUnanswerable)}>
            {words.unanswerable}
          </button>
        </fieldset>
        {!isUnanswerable && (
          <>
            <TextInput label={words.facts} hint={words.factsHint} value={facts} onChange={setFacts} rows={3} />
            <TextInput label={words.documents} value={documents} onChange={setDocuments} rows={3} />
          </>
        )}
        <div className="actions">
          <Button onPress={onClose}>{save.isSuccess ? texts.common.close : texts.common.cancel}</Button>
          <Button type="submit" look="primary" isDisabled={save.isPending || save.isSuccess || !isWhole}>
            {words.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
