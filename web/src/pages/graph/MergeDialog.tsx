import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useApi } from "../../api/client";
import { useTexts } from "../../texts";
import { Completion } from "../../ui/Completion";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure } from "../../ui/notices";
import { MergePreview } from "./MergePreview";
import { useNames } from "./Search";

type MergeDialogProps = { name: string; onClose: () => void; onChanged: (name: string) => void };

/** Makes an entity another name of one that is looked for, after saying what will be of both. */
export function MergeDialog({ name, onClose, onChanged }: MergeDialogProps) {
  const texts = useTexts();
  const api = useApi();
  const [written, setWritten] = useState("");
  const [other, setOther] = useState("");
  const names = useNames(written).filter((item) => item.name !== name);
  const merge = useMutation({
    mutationFn: async () => {
      await api.POST("/graph/aliases", { body: { decision: "accept", names: [name], entity: other, proposed_by: "", evidence: "" } });
    },
    onSuccess: () => {
      onChanged(other);
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (other) merge.mutate();
  };
  return (
    <Dialog title={texts.graph.mergeTitle(name)} isOpen onClose={onClose} wide>
      <form onSubmit={submit}>
        {merge.error && <Failure error={merge.error} />}
        <Completion
          label={texts.graph.mergeWith}
          items={names}
          written={written}
          chosen={other}
          nothing={texts.graph.nothingFound}
          onWrite={(text) => {
            setWritten(text);
            if (text !== other) setOther("");
          }}
          onChoose={(item) => {
            setWritten(item.name);
            setOther(item.name);
          }}
        />
        {other && <MergePreview name={name} other={other} />}
        <div className="actions">
          <Button onPress={onClose}>{texts.common.cancel}</Button>
          <Button type="submit" look="danger" isDisabled={!other || merge.isPending}>
            {texts.graph.merge}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
