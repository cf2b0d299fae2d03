import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Checkbox, CheckboxGroup, Label } from "react-aria-components";
import { type Api, data, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure, Loading } from "../../ui/notices";

const PER_PAGE = 200;

/** As many documents as one request may name. */
const MOST = 1000;

interface Speaking {
  id: string;
  name: string;
}

/** The documents that speak of an entity, in the order of their names. */
async function documentsOf(api: Api, name: string): Promise<Speaking[]> {
  const names = new Map<string, string>();
  for (let after: string | null = ""; after !== null && names.size < MOST; ) {
    const query: { name: string; after: string; limit: number } = { name, after, limit: PER_PAGE };
    const page = data(await api.GET("/graph/provenance", { params: { query } }));
    for (const { document_id, file_path } of page.sources) names.set(document_id, file_path);
    after = page.after;
  }
  const all = [...names].map(([id, path]) => ({ id, name: path }));
  return all.sort((one, other) => one.name.localeCompare(other.name)).slice(0, MOST);
}

type ChoiceProps = { documents: Speaking[]; chosen: string[]; onChange: (chosen: string[]) => void };

function DocumentChoice({ documents, chosen, onChange }: ChoiceProps) {
  const texts = useTexts();
  return (
    <CheckboxGroup className="field" value={chosen} onChange={onChange}>
      <Label>{texts.graph.splitDocuments}</Label>
      <div className="split-documents">
        {documents.map(({ id, name }) => (
          <Checkbox key={id} value={id} className="tick">
            <span className="mark" aria-hidden />
            {name}
          </Checkbox>
        ))}
      </div>
    </CheckboxGroup>
  );
}

type SplitProps = { name: string; onClose: () => void; onChanged: (name: string) => void };

/** Lets the name mean another entity in some documents: what is said of a homonym comes apart. */
export function SplitDialog({ name, onClose, onChanged }: SplitProps) {
  const texts = useTexts();
  const api = useApi();
  const [other, setOther] = useState("");
  const [chosen, setChosen] = useState<string[]>([]);
  const [evidence, setEvidence] = useState("");
  const documents = useQuery({
    queryKey: [useWorkspace(), "documents-of", name],
    queryFn: () => documentsOf(api, name),
  });
  const split = useMutation({
    mutationFn: async () => {
      await api.POST("/graph/entity/split", {
        body: { entity_name: name, new_entity_name: other.trim(), documents: chosen, evidence: evidence.trim() },
      });
    },
    onSuccess: () => {
      onChanged(other.trim());
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    split.mutate();
  };
  const isReady = other.trim() && other.trim() !== name && chosen.length > 0 && !split.isPending;
  return (
    <Dialog title={texts.graph.splitTitle(name)} isOpen onClose={onClose} wide>
      <form onSubmit={submit}>
        {split.error && <Failure error={split.error} />}
        <p>{texts.graph.splitText(name)}</p>
        <TextInput label={texts.graph.otherEntity} value={other} onChange={setOther} autoFocus required />
        {documents.isPending && <Loading />}
        {documents.error && <Failure error={documents.error} retry={() => void documents.refetch()} />}
        {documents.data?.length === 0 && <p className="hint">{texts.graph.madeByPeople}</p>}
        {documents.data && documents.data.length > 0 && (
          <DocumentChoice documents={documents.data} chosen={chosen} onChange={setChosen} />
        )}
        <TextInput label={texts.graph.evidence} value={evidence} onChange={setEvidence} />
        <div className="actions">
          <Button onPress={onClose}>{texts.common.cancel}</Button>
          <Button type="submit" look="primary" isDisabled={!isReady}>
            {texts.graph.split}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
