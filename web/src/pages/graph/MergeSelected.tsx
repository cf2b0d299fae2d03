import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useApi } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, Select } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure } from "../../ui/notices";
import { MergePreview } from "./MergePreview";

/** Previews that are shown, each of which reads what is around two entities. */
const PREVIEWED = 4;

type MergeSelectedProps = { names: readonly string[]; onClose: () => void; onMerged: (name: string) => void };

/** Makes several entities names of one of them, which is chosen: the first is proposed. */
export function MergeSelected({ names, onClose, onMerged }: MergeSelectedProps) {
  const texts = useTexts();
  const api = useApi();
  const [entity, setEntity] = useState(names[0] ?? "");
  const others = names.filter((name) => name !== entity);
  const merge = useMutation({
    mutationFn: async () => {
      await api.POST("/graph/aliases", { body: { decision: "accept", names: others, entity, proposed_by: "", evidence: "" } });
    },
    onSuccess: () => {
      onMerged(entity);
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    merge.mutate();
  };
  return (
    <Dialog title={texts.graph.mergeSelected(names.length)} isOpen onClose={onClose} wide>
      <form onSubmit={submit}>
        {merge.error && <Failure error={merge.error} />}
        <Select label={texts.graph.mergeWith} value={entity} onChange={setEntity} choices={names.map((name) => ({ id: name, name }))} />
        {others.slice(0, PREVIEWED).map((name) => (
          <MergePreview key={name} name={name} other={entity} />
        ))}
        {others.length > PREVIEWED && <p className="hint">{texts.graph.mergeMore(others.length - PREVIEWED)}</p>}
        <div className="actions">
          <Button onPress={onClose}>{texts.common.cancel}</Button>
          <Button type="submit" look="danger" isDisabled={merge.isPending}>
            {texts.graph.mergeSelected(names.length)}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
