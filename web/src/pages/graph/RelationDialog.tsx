import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useApi } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure } from "../../ui/notices";
import { Origin } from "./Origin";
import { type EdgeFacts, sentences } from "./useSubgraph";

type RelationDialogProps = {
  name: string;
  /** None: a new one. */
  relation: EdgeFacts | null;
  mayWrite: boolean;
  isPast: boolean;
  onClose: () => void;
  onChanged: () => void;
};

const NEW: EdgeFacts = { source: "", target: "", keywords: "", description: "", weight: 1, sources: [], files: [] };

/** A relation: what is said of it and where that comes from; it is corrected, deleted or made here. */
export function RelationDialog({ name, relation, mayWrite, isPast, onClose, onChanged }: RelationDialogProps) {
  const texts = useTexts();
  const api = useApi();
  const given = relation ?? NEW;
  const before = sentences(given.description).join("\n");
  const [other, setOther] = useState(given.source === name ? given.target : given.source);
  const [description, setDescription] = useState(before);
  const [keywords, setKeywords] = useState(given.keywords);
  const [weight, setWeight] = useState(String(given.weight));
  const change = useMutation({
    mutationFn: async (what: "save" | "remove") => {
      const values = { keywords, weight: Number(weight), ...(relation && description === before ? {} : { description }) };
      const ends = { source_entity: name, target_entity: other.trim() };
      if (what === "remove") await api.DELETE("/graph/relation/delete", { body: ends });
      else if (relation) await api.POST("/graph/relation/edit", { body: { source_id: name, target_id: other, updated_data: values } });
      else await api.POST("/graph/relation/create", { body: { ...ends, relation_data: { ...values, description } } });
    },
    onSuccess: () => {
      onChanged();
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate("save");
  };
  const isReady = other.trim() && description.trim() && Number(weight) > 0 && !change.isPending;
  return (
    <Dialog title={relation ? texts.graph.relationOf(name, other) : texts.graph.relate} isOpen onClose={onClose} wide>
      <form onSubmit={submit}>
        {change.error && <Failure error={change.error} />}
        {!relation && <TextInput label={texts.graph.otherEntity} value={other} onChange={setOther} autoFocus required />}
        {mayWrite ? (
          <>
            <TextInput
              label={texts.graph.description}
              value={description}
              onChange={setDescription}
              rows={5}
              {...(description !== before ? { hint: texts.graph.descriptionHint } : {})}
            />
            <TextInput label={texts.graph.keywords} value={keywords} onChange={setKeywords} />
            <TextInput label={texts.graph.weight} value={weight} onChange={setWeight} />
          </>
        ) : (
          <p>{before}</p>
        )}
        {given.sources.length > 0 && (
          <Origin name={name} other={other} sources={given.sources} isPast={isPast} />
        )}
        <div className="actions">
          {relation && mayWrite && (
            <Button look="danger" className="first" onPress={() => change.mutate("remove")}>
              {texts.graph.remove}
            </Button>
          )}
          <Button onPress={onClose}>{mayWrite ? texts.common.cancel : texts.common.close}</Button>
          {mayWrite && (
            <Button type="submit" look="primary" isDisabled={!isReady}>
              {texts.graph.save}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
