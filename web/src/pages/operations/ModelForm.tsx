import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { data, type Schemas, useApi } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, Select, TextInput } from "../../ui/controls";
import { Failure, Notice } from "../../ui/notices";
import { TestResult } from "./TestResult";

type Candidate = Schemas["Candidate"];
type Part = Candidate["part"];
type UsedModels = Schemas["UsedModels"];

const PARTS: Part[] = ["language", "embedding", "reranker"];

type SavedProps = { saved: Schemas["ModelSaved"]; model: string; isOtherEmbedder: boolean };

/** What the next start does with a model that was saved, and what has to be done then. */
function Saved({ saved, model, isOtherEmbedder }: SavedProps) {
  const texts = useTexts().operations.modelTab;
  return (
    <Notice kind={isOtherEmbedder || saved.overridden.length > 0 ? "warning" : "info"} title={texts.saved(saved.file)}>
      <p>{texts.restart}</p>
      <code>lightstream down && lightstream up --detach</code>
      {isOtherEmbedder && (
        <>
          <p>{texts.otherEmbedder}</p>
          <code>{texts.rebuild(model)}</code>
        </>
      )}
      {saved.overridden.length > 0 && <p>{texts.overridden(saved.overridden.join(", "))}</p>}
    </Notice>
  );
}

/** Another model: tried, and where this stack reads a settings file, written into it. */
export function ModelForm({ used }: { used: UsedModels }) {
  const texts = useTexts().operations.modelTab;
  const api = useApi();
  const [part, setPart] = useState<Part>("language");
  const [binding, setBinding] = useState("openai");
  const [address, setAddress] = useState("");
  const [model, setModel] = useState("");
  const [key, setKey] = useState("");
  const bindings = used.bindings[part] ?? [];
  const candidate: Candidate = { part, binding, address: address.trim(), model: model.trim(), key: key.trim() || null };
  const test = useMutation({ mutationFn: async () => data(await api.POST("/operations/models/test", { body: { part, role: null, candidate } })) });
  const save = useMutation({ mutationFn: async () => data(await api.PUT("/operations/models", { body: candidate })) });
  const isBusy = test.isPending || save.isPending;
  const isOtherEmbedder = part === "embedding" && !used.models.some((one) => one.part === "embedding" && one.model === candidate.model && one.binding === binding);
  const change = <T,>(set: (value: T) => void) => (value: T) => {
    set(value);
    test.reset();
    save.reset();
  };
  const choosePart = (chosen: Part) => {
    setPart(chosen);
    setBinding(used.bindings[chosen]?.[0] ?? "");
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.reset();
    test.mutate();
  };
  return (
    <section>
      <h2>{texts.other}</h2>
      <form className="model-form" onSubmit={submit}>
        <Select label={texts.part} value={part} choices={PARTS.map((id) => ({ id, name: texts.parts[id] }))} onChange={change(choosePart)} />
        <Select label={texts.binding} value={binding} choices={bindings.map((id) => ({ id, name: id === "built-in" ? texts.builtIn : id }))} onChange={change(setBinding)} />
        <TextInput label={texts.address} hint={texts.addressHelp} value={address} onChange={change(setAddress)} placeholder="https://…/v1" />
        <TextInput label={texts.model} value={model} onChange={change(setModel)} required />
        <TextInput label={texts.key} hint={texts.keyHelp} type="password" autoComplete="off" value={key} onChange={change(setKey)} />
        <div className="actions">
          <Button type="submit" isDisabled={isBusy || !model.trim()}>
            {test.isPending ? texts.asking : texts.test}
          </Button>
          {used.settings_file && (
            <Button look="primary" isDisabled={isBusy || !model.trim()} onPress={() => save.mutate()}>
              {texts.save}
            </Button>
          )}
        </div>
      </form>
      {!used.settings_file && <p className="hint">{texts.notHere}</p>}
      {(test.error ?? save.error) && <Failure error={test.error ?? save.error} />}
      {test.data && !save.data && <TestResult tested={test.data} />}
      {save.data && <Saved saved={save.data} model={candidate.model} isOtherEmbedder={isOtherEmbedder} />}
    </section>
  );
}
