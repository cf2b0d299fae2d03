import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { readUntil } from "../../api/looks";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure } from "../../ui/notices";
import { ChosenDocuments } from "../documents/ChosenDocuments";
import { DocumentPicker } from "../documents/DocumentPicker";

type DocumentValidity = Schemas["DocumentValidity"];

const dayOf = (time: string | null) => time?.slice(0, 10) ?? "";
const sorted = (ids: readonly string[]) => [...ids].sort().join("\n");
const timeOf = (day: string) => (day ? `${day}T00:00:00Z` : null);

type DialogProps = { validity: DocumentValidity; onClose: () => void };

/** States when a document holds and what it supersedes, in place of what was said before, or takes that back. */
export function ValidityDialog({ validity, onClose }: DialogProps) {
  const all = useTexts();
  const texts = all.validity;
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const [from, setFrom] = useState(dayOf(validity.valid_from));
  const [until, setUntil] = useState(dayOf(validity.valid_until));
  const [older, setOlder] = useState<readonly string[]>(validity.supersedes);
  const [authority, setAuthority] = useState(String(validity.authority));
  const [reason, setReason] = useState("");
  const path = { document_id: validity.document_id };
  const isWhatWasStated = (now: DocumentValidity) =>
    now.is_stated &&
    sorted(now.supersedes) === sorted(older) &&
    now.authority === Number(authority) &&
    dayOf(now.valid_from) === from &&
    dayOf(now.valid_until) === until;
  const finish = async (isThere: (now: DocumentValidity) => boolean) => {
    const now = await readUntil(async () => data(await api.GET("/documents/{document_id}/validity", { params: { path } })), isThere);
    queries.setQueryData([workspace, "validity", validity.document_id], now);
    onClose();
  };
  const state = useMutation({
    mutationFn: async () => {
      const left = validity.coexists_with.filter((id) => !older.includes(id));
      const times = { valid_from: timeOf(from), valid_until: timeOf(until) };
      const body = { ...times, supersedes: [...older], authority: Number(authority), coexists_with: left, reason };
      return data(await api.PUT("/documents/{document_id}/validity", { params: { path }, body }));
    },
    onSuccess: () => finish(isWhatWasStated),
  });
  const withdraw = useMutation({
    mutationFn: async () => data(await api.DELETE("/documents/{document_id}/validity", { params: { path, query: { reason } } })),
    onSuccess: () => finish(({ is_stated }) => !is_stated),
  });
  const error = state.error ?? withdraw.error;
  const isBusy = state.isPending || withdraw.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    state.mutate();
  };
  return (
    <Dialog title={texts.dialogTitle} isOpen onClose={onClose} wide>
      <form onSubmit={submit}>
        {error && <Failure error={error} />}
        <p>{texts.dialogText}</p>
        <TextInput type="date" label={texts.fromDay} value={from} onChange={setFrom} />
        <TextInput type="date" label={texts.untilDay} value={until} onChange={setUntil} />
        <DocumentPicker label={texts.older} value="" onChange={(id) => id && setOlder([...new Set([...older, id])])} isOnce />
        <ChosenDocuments label={texts.supersedes} ids={older} withoutLabel={texts.withoutOlder} onChange={setOlder} />
        <TextInput type="number" label={texts.authority} hint={texts.authorityHint} value={authority} onChange={setAuthority} />
        <TextInput label={texts.reason} value={reason} onChange={setReason} />
        <div className="actions">
          <Button onPress={onClose}>{all.common.cancel}</Button>
          {validity.is_stated && (
            <Button look="quiet" isDisabled={isBusy} onPress={() => withdraw.mutate()}>
              {texts.withdraw}
            </Button>
          )}
          <Button type="submit" look="primary" isDisabled={isBusy}>
            {texts.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
