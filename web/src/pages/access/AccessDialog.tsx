import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure, Notice } from "../../ui/notices";
import type { Document } from "../documents/useDocuments";
import { principalsIn } from "./newAccess";

type Access = Schemas["Access"];

/** Says whether somebody with these principals sees the document now, and why. */
function Explanation({ id }: { id: string }) {
  const texts = useTexts().access;
  const api = useApi();
  const [who, setWho] = useState("");
  const explain = useMutation({
    mutationFn: async () => {
      const query = { doc_id: id, principals: principalsIn(who).join(",") };
      return data(await api.GET("/documents/access/explain", { params: { query } }));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    explain.mutate();
  };
  return (
    <form onSubmit={submit} aria-label={texts.ask}>
      <h3>{texts.ask}</h3>
      <TextInput label={texts.who} hint={texts.whoHint} value={who} onChange={setWho} />
      {explain.error && <Failure error={explain.error} />}
      {explain.data && <Notice>{explain.data.is_visible ? texts.sees(explain.data.reason) : texts.hidden(explain.data.reason)}</Notice>}
    </form>
  );
}

type DialogProps = { document: Document; access: Access | null; onClose: () => void };

/** States who may see a document; nothing of it is read again. */
export function AccessDialog({ document, access, onClose }: DialogProps) {
  const all = useTexts();
  const texts = all.access;
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const [allow, setAllow] = useState((access?.allow ?? ["everyone"]).join(", "));
  const [deny, setDeny] = useState((access?.deny ?? []).join(", "));
  const [reason, setReason] = useState("");
  const change = useMutation({
    mutationFn: async (given: { allow: string[]; deny: string[] } | null) => {
      const body = { access: given, reason };
      await api.PUT("/documents/access", { params: { query: { doc_id: document.id } }, body });
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [workspace, "access"] });
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate({ allow: principalsIn(allow), deny: principalsIn(deny) });
  };
  return (
    <Dialog title={texts.dialogTitle(document.file_path)} isOpen onClose={onClose} wide>
      <form onSubmit={submit}>
        {change.error && <Failure error={change.error} />}
        <p>{texts.dialogText}</p>
        <TextInput label={texts.allow} hint={texts.allowHint} value={allow} onChange={setAllow} autoFocus />
        <TextInput label={texts.deny} hint={texts.denyHint} value={deny} onChange={setDeny} />
        <TextInput label={texts.reason} value={reason} onChange={setReason} />
        <div className="actions">
          <Button onPress={onClose}>{all.common.cancel}</Button>
          {access && (
            <Button look="quiet" isDisabled={change.isPending} onPress={() => change.mutate(null)}>
              {texts.open}
            </Button>
          )}
          <Button type="submit" look="primary" isDisabled={change.isPending}>
            {texts.save}
          </Button>
        </div>
      </form>
      <Explanation id={document.id} />
    </Dialog>
  );
}
