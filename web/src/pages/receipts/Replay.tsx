import { useMutation } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { data, type Schemas, useApi } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Failure, Notice } from "../../ui/notices";

type Replayed = Schemas["ReplayResponse"];

function Outcome({ replayed }: { replayed: Replayed }) {
  const texts = useTexts().receipts;
  const word = (isSame: boolean | null) => (isSame === null ? texts.notCompared : isSame ? texts.same : texts.another);
  const compared: [string, boolean | null][] = [
    [texts.evidence, replayed.evidence],
    [texts.prompted, replayed.prompt],
    [texts.answer, replayed.answer],
  ];
  return (
    <Notice kind={replayed.evidence ? "info" : "warning"} title={texts.replayed}>
      <ul>
        {compared.map(([name, isSame]) => (
          <li key={name}>
            {name}: {word(isSame)}
          </li>
        ))}
        {replayed.missing.map((id) => (
          <li key={id}>
            {texts.missing}: {id}
          </li>
        ))}
        {replayed.new.map((id) => (
          <li key={id}>
            {texts.new}: {id}
          </li>
        ))}
        {replayed.notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
      {replayed.text && <p className="plain">{replayed.text}</p>}
    </Notice>
  );
}

/** Asks the question of a receipt once more, from the same place of the log, and says what is the same. */
export function Replay({ id, needsQuestion }: { id: string; needsQuestion: boolean }) {
  const texts = useTexts().receipts;
  const api = useApi();
  const [question, setQuestion] = useState("");
  const replay = useMutation({
    mutationFn: async () => data(await api.POST("/receipts/{id}/replay", { params: { path: { id } }, body: { query: question, answer: true } })),
  });
  return (
    <div className="check">
      {needsQuestion && <TextInput label={texts.replayQuestion} value={question} onChange={setQuestion} />}
      <Button icon={RotateCw} isDisabled={replay.isPending || (needsQuestion && question === "")} onPress={() => replay.mutate()}>
        {texts.replay}
      </Button>
      {replay.error && <Failure error={replay.error} />}
      {replay.data && <Outcome replayed={replay.data} />}
    </div>
  );
}
