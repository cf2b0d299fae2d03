import { ClipboardPaste, FilePlus2, FolderPlus } from "lucide-react";
import { type FormEvent, useState } from "react";
import { FileTrigger } from "react-aria-components";
import { useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure } from "../../ui/notices";
import { NewAccessButton, useNewAccess } from "../access/NewAccessButton";
import { addFiles } from "./uploads";
import { useChange } from "./useDocuments";

function PasteDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const texts = useTexts();
  const api = useApi();
  const access = useNewAccess();
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const add = useChange(async () => {
    await api.POST("/documents/text", { body: { text, file_source: name.trim(), access: access ?? null } });
    setName("");
    setText("");
    onClose();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate(undefined);
  };
  return (
    <Dialog title={texts.documents.pasteTitle} isOpen={isOpen} onClose={onClose} wide>
      <form onSubmit={submit}>
        {add.error && <Failure error={add.error} />}
        <TextInput
          label={texts.documents.pasteName}
          value={name}
          onChange={setName}
          autoFocus
          placeholder="notes.md"
        />
        {access && <p className="hint">{texts.access.newSeenBy(access.allow.join(", "))}</p>}
        <TextInput label={texts.documents.pasteText} value={text} onChange={setText} rows={12} required />
        <div className="actions">
          <Button onPress={onClose}>{texts.common.cancel}</Button>
          <Button type="submit" look="primary" isDisabled={!text.trim() || add.isPending}>
            {texts.documents.pasteAdd}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The ways to add documents, beside dropping them. */
export function AddMenu() {
  const texts = useTexts();
  const workspace = useWorkspace();
  const [isPasting, setPasting] = useState(false);
  const take = (files: FileList | null) => addFiles([...(files ?? [])], workspace);
  return (
    <div className="add">
      <NewAccessButton />
      <Button
        look="quiet"
        icon={ClipboardPaste}
        label={texts.documents.paste}
        onPress={() => setPasting(true)}
      />
      <FileTrigger acceptDirectory onSelect={take}>
        <Button look="quiet" icon={FolderPlus} label={texts.documents.uploadFolder} />
      </FileTrigger>
      <FileTrigger allowsMultiple onSelect={take}>
        <Button look="primary" icon={FilePlus2}>
          {texts.documents.upload}
        </Button>
      </FileTrigger>
      <PasteDialog isOpen={isPasting} onClose={() => setPasting(false)} />
    </div>
  );
}
