import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, CopyButton, TextInput } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure, Notice } from "../../ui/notices";

const NOTICES = ["document.processed", "document.partial", "document.failed", "document.deleted"];
const EVENTS = ["DocumentAdded", "GraphEdited", "StageFailed"];

function Secret({ secret, onClose }: { secret: string; onClose: () => void }) {
  const texts = useTexts();
  return (
    <>
      <Notice title={texts.operations.secret}>{texts.operations.secretText}</Notice>
      <p className="secret">
        <code>{secret}</code> <CopyButton text={secret} />
      </p>
      <div className="actions">
        <Button look="primary" onPress={onClose}>
          {texts.common.close}
        </Button>
      </div>
    </>
  );
}

/** Registers an address, and shows its secret this once. */
export function AddWebhook({ onClose }: { onClose: () => void }) {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const [url, setUrl] = useState("");
  const [types, setTypes] = useState<ReadonlySet<string>>(new Set(NOTICES));
  const add = useMutation({
    mutationFn: async () => {
      const body: Schemas["NewWebhook"] = { url: url.trim(), types: [...types], description: "", include_body: false, reason: "" };
      return data(await api.POST("/operations/webhooks", { body })).secret;
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [workspace, "webhooks"] }),
  });
  const toggle = (type: string) => {
    const next = new Set(types);
    if (!next.delete(type)) next.add(type);
    setTypes(next);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <Dialog title={texts.operations.addWebhook} isOpen onClose={onClose} wide>
      {add.data ? (
        <Secret secret={add.data} onClose={onClose} />
      ) : (
        <form onSubmit={submit}>
          {add.error && <Failure error={add.error} />}
          <TextInput label={texts.operations.address} value={url} onChange={setUrl} hint={texts.operations.addressHint} placeholder="https://" autoFocus required />
          <fieldset className="filters">
            <legend className="hint">{texts.operations.kinds}</legend>
            {[...NOTICES, ...EVENTS].map((type) => (
              <button key={type} type="button" className="chip" aria-pressed={types.has(type)} onClick={() => toggle(type)}>
                {type}
              </button>
            ))}
          </fieldset>
          <div className="actions">
            <Button onPress={onClose}>{texts.common.cancel}</Button>
            <Button type="submit" look="primary" isDisabled={add.isPending || !url.trim() || types.size === 0}>
              {texts.operations.addWebhook}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

/** Sends everything behind a place of the log again. */
export function Replay({ webhook, onClose }: { webhook: Schemas["Webhook"]; onClose: () => void }) {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const [after, setAfter] = useState("0");
  const replay = useMutation({
    mutationFn: async () => {
      await api.POST("/operations/webhooks/{webhook_id}/replay", { params: { path: { webhook_id: webhook.id } }, body: { after: Number(after), reason: "" } });
    },
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: [workspace, "webhooks"] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    replay.mutate();
  };
  return (
    <Dialog title={texts.operations.replay} isOpen onClose={onClose}>
      <form onSubmit={submit}>
        {replay.error && <Failure error={replay.error} />}
        <p>{texts.operations.replayText}</p>
        <TextInput label={texts.operations.after} value={after} onChange={setAfter} autoFocus required />
        <div className="actions">
          <Button onPress={onClose}>{texts.common.cancel}</Button>
          <Button type="submit" look="primary" isDisabled={replay.isPending || !(Number(after) >= 0)}>
            {texts.operations.replay}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
