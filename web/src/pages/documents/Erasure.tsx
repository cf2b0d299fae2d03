import { Eraser } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useApi } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure } from "../../ui/notices";
import { useChange } from "./useDocuments";

const COMMAND = "lightstream erase --requested --yes";

/** Asks for documents to be erased for good: they leave at once, an operator does the rest. */
export function Erasure({ ids, onDone }: { ids: string[]; onDone: () => void }) {
  const texts = useTexts();
  const api = useApi();
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const erase = useChange(async () => {
    await api.POST("/operations/erasures", { body: { document_ids: ids, reason } });
    setOpen(false);
    onDone();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    erase.mutate(undefined);
  };
  return (
    <>
      <Button look="quiet" icon={Eraser} onPress={() => setOpen(true)}>
        {texts.documents.erase}
      </Button>
      <Dialog title={texts.documents.eraseTitle(ids.length)} isOpen={isOpen} onClose={() => setOpen(false)}>
        <form onSubmit={submit}>
          {erase.error && <Failure error={erase.error} />}
          <p>{texts.documents.eraseText}</p>
          <code>{COMMAND}</code>
          <TextInput label={texts.documents.eraseReason} value={reason} onChange={setReason} autoFocus />
          <div className="actions">
            <Button onPress={() => setOpen(false)}>{texts.common.cancel}</Button>
            <Button type="submit" look="danger" isDisabled={erase.isPending}>
              {texts.documents.eraseAsk}
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
