import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type Schemas, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Failure, Notice } from "../../ui/notices";

type Body = Schemas["BranchRequest"];
type Field = "name" | "extract_model" | "prompt" | "entity_types" | "chunk_size" | "chunk_overlap" | "chunking" | "sample" | "budget" | "reason";

const EMPTY: Record<Field, string> = { name: "", extract_model: "", prompt: "", entity_types: "", chunk_size: "", chunk_overlap: "", chunking: "", sample: "", budget: "", reason: "" };
const LONG: Field[] = ["prompt", "entity_types"];

const numberOf = (text: string) => (text.trim() ? Number(text) : null);

function bodyOf(fields: Record<Field, string>): Body {
  return {
    ...fields,
    name: fields.name.trim(),
    chunk_size: numberOf(fields.chunk_size),
    chunk_overlap: numberOf(fields.chunk_overlap),
    sample: numberOf(fields.sample),
    budget: numberOf(fields.budget),
    budget_tokens: null,
  };
}

/** Asks what is to be other in a branch; it is made once its estimate has been shown. */
export function BranchForm({ orders, onClose }: { orders: Schemas["BranchOrders"] | undefined; onClose: () => void }) {
  const texts = useTexts();
  const words = texts.operations.branchTab;
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const [fields, setFields] = useState(EMPTY);
  const [estimated, setEstimated] = useState("");
  const settle = () => queries.invalidateQueries({ queryKey: [workspace, "branch-orders"] });
  const written = JSON.stringify(fields);
  const estimate = useMutation({
    mutationFn: async () => {
      await api.POST("/branches/estimate", { body: bodyOf(fields) });
      setEstimated(written);
    },
    onSettled: settle,
  });
  const create = useMutation({
    mutationFn: () => api.POST("/branches", { body: bodyOf(fields) }),
    onSuccess: onClose,
    onSettled: settle,
  });
  const last = orders?.last;
  const isBusy = last?.state === "running" || estimate.isPending || create.isPending || !orders?.takes_orders;
  const isEstimated = estimated === written && last?.step === "branch-estimate" && last.state === "done" && last.branch === fields.name.trim();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    estimate.mutate();
  };
  return (
    <form className="box" onSubmit={submit}>
      <h2>{words.make}</h2>
      {orders?.takes_orders === false && <Notice kind="warning">{texts.operations.noOperator}</Notice>}
      {(create.error ?? estimate.error) && <Failure error={create.error ?? estimate.error} />}
      {(Object.keys(EMPTY) as Field[]).map((name) => (
        <TextInput
          key={name}
          label={words.fields[name] ?? name}
          value={fields[name]}
          onChange={(value) => setFields({ ...fields, [name]: value })}
          required={name === "name"}
          {...(LONG.includes(name) ? { rows: 4 } : {})}
        />
      ))}
      <div className="actions">
        <Button onPress={onClose}>{texts.common.cancel}</Button>
        <Button type="submit" isDisabled={isBusy}>
          {words.estimate}
        </Button>
        <Button look="primary" isDisabled={isBusy || !isEstimated} onPress={() => create.mutate()}>
          {words.create}
        </Button>
      </div>
    </form>
  );
}
