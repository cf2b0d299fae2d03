import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError, data, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Confirm, Dialog } from "../../ui/dialogs";
import { Failure, Loading } from "../../ui/notices";
import { MergePreview } from "./MergePreview";
import { type NodeFacts, sentences } from "./useSubgraph";

type DialogProps = { onClose: () => void; onChanged: (name: string) => void };

/** Changes name, type or description. A name that is taken asks whether the two are one. */
export function EditDialog({ facts, kinds, onClose, onChanged }: DialogProps & { facts: NodeFacts; kinds: readonly string[] }) {
  const texts = useTexts();
  const api = useApi();
  const [name, setName] = useState(facts.name);
  const [type, setType] = useState(facts.type);
  const before = sentences(facts.description).join("\n");
  const [description, setDescription] = useState(before);
  const isRenamed = name.trim() !== facts.name;

  const taken = useMutation({
    mutationFn: async (wanted: string) => data(await api.GET("/graph/entity/exists", { params: { query: { name: wanted } } })).exists,
  });
  const save = useMutation({
    mutationFn: async (merging: boolean) => {
      if (isRenamed && !merging && (await taken.mutateAsync(name.trim()))) return false;
      await api.POST("/graph/entity/edit", {
        body: {
          entity_name: facts.name,
          updated_data: {
            ...(isRenamed ? { entity_name: name.trim() } : {}),
            ...(type !== facts.type ? { entity_type: type } : {}),
            ...(description !== before ? { description } : {}),
          },
          allow_rename: isRenamed,
          allow_merge: merging,
        },
      });
      return true;
    },
    onSuccess: (isDone) => {
      if (!isDone) return;
      onChanged(name.trim());
      onClose();
    },
  });
  const isTaken = isRenamed && taken.data === true;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(isTaken);
  };
  return (
    <Dialog title={texts.graph.editTitle(facts.name)} isOpen onClose={onClose} wide>
      <form onSubmit={submit}>
        {save.error && <Failure error={save.error} />}
        {isTaken && <MergePreview name={facts.name} other={name.trim()} />}
        <TextInput
          label={texts.documents.name}
          value={name}
          onChange={(value) => {
            setName(value);
            taken.reset();
          }}
          autoFocus
          required
          {...(isRenamed && !isTaken ? { hint: texts.graph.renameHint(facts.name) } : {})}
        />
        <TextInput label={texts.graph.type} value={type} onChange={setType} offered={kinds} required />
        <TextInput
          label={texts.graph.description}
          value={description}
          onChange={setDescription}
          rows={6}
          {...(description !== before ? { hint: texts.graph.descriptionHint } : {})}
        />
        <div className="actions">
          <Button onPress={onClose}>{texts.common.cancel}</Button>
          <Button type="submit" look={isTaken ? "danger" : "primary"} isDisabled={save.isPending || !name.trim()}>
            {isTaken ? texts.graph.merge : texts.graph.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Hides an entity with its relations, after saying how many that are. */
export function RemoveDialog({ name, onClose, onChanged }: DialogProps & { name: string }) {
  const texts = useTexts();
  const api = useApi();
  const remove = useMutation({
    mutationFn: async () => {
      await api.DELETE("/graph/entity/delete", { body: { entity_name: name } });
    },
    onSuccess: () => onChanged(""),
  });
  // What is drawn may be a part: a hub has more relations than are read at once.
  const around = useQuery({
    queryKey: [useWorkspace(), "around", name],
    queryFn: async () => data(await api.GET("/graphs", { params: { query: { label: name, max_depth: 1, max_nodes: 1000 } } })),
  });
  const own = around.data?.edges.filter(({ source, target }) => source === name || target === name).length ?? 0;
  if (around.isPending) return <Loading />;
  if (remove.error instanceof ApiError) return <Failure error={remove.error} />;
  return (
    <Confirm
      title={texts.graph.removeTitle(name)}
      text={`${around.data?.is_truncated ? `${texts.graph.atLeast} ` : ""}${texts.graph.removeText(own)}`}
      action={texts.graph.remove}
      isOpen
      onClose={onClose}
      onConfirm={() => remove.mutate()}
    />
  );
}

/** Adds an entity that no document speaks of. */
export function CreateDialog({ kinds, onClose, onChanged }: DialogProps & { kinds: readonly string[] }) {
  const texts = useTexts();
  const api = useApi();
  const [name, setName] = useState("");
  const [type, setType] = useState("");
  const [description, setDescription] = useState("");
  const create = useMutation({
    mutationFn: async () => {
      await api.POST("/graph/entity/create", {
        body: { entity_name: name.trim(), entity_data: { entity_type: type.trim() || "other", description } },
      });
    },
    onSuccess: () => {
      onChanged(name.trim());
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Dialog title={texts.graph.create} isOpen onClose={onClose}>
      <form onSubmit={submit}>
        {create.error && <Failure error={create.error} />}
        <TextInput label={texts.documents.name} value={name} onChange={setName} autoFocus required />
        <TextInput label={texts.graph.type} value={type} onChange={setType} offered={kinds} />
        <TextInput label={texts.graph.description} value={description} onChange={setDescription} rows={4} />
        <div className="actions">
          <Button onPress={onClose}>{texts.common.cancel}</Button>
          <Button type="submit" look="primary" isDisabled={create.isPending || !name.trim()}>
            {texts.graph.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
