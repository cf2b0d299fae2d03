import { Check, PenLine, Trash2 } from "lucide-react";
import { type FormEvent, useState, useSyncExternalStore } from "react";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { useFormat } from "../../ui/format";
import { conversations, conversationsOf, found, type Owner, remove, rename, type SavedConversation } from "./conversations";

type RowProps = { owner: Owner; saved: SavedConversation; onOpen: () => void };

function Row({ owner, saved, onOpen }: RowProps) {
  const texts = useTexts().ask;
  const format = useFormat();
  const [written, setWritten] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rename(owner, saved.id, written ?? "");
    setWritten(null);
  };
  if (written !== null)
    return (
      <li>
        <form onSubmit={submit}>
          <TextInput label={texts.conversationName} value={written} onChange={setWritten} autoFocus />
          <Button type="submit" icon={Check} label={texts.saveName} />
        </form>
      </li>
    );
  return (
    <li>
      <button type="button" className="open" onClick={onOpen}>
        <strong>{saved.name}</strong>
        <span className="hint">
          {texts.questions(saved.questions.length)} · {format.ago(new Date(saved.at).toISOString())}
        </span>
      </button>
      <Button look="quiet" icon={PenLine} label={texts.renameOf(saved.name)} onPress={() => setWritten(saved.name)} />
      <Button look="quiet" icon={Trash2} label={texts.removeOf(saved.name)} onPress={() => remove(owner, saved.id)} />
    </li>
  );
}

type ConversationsDialogProps = { owner: Owner; onOpen: (saved: SavedConversation) => void; onClose: () => void };

/** What was asked before in this browser, to be found by its words and taken up again. */
export function ConversationsDialog({ owner, onOpen, onClose }: ConversationsDialogProps) {
  const texts = useTexts().ask;
  const all = conversationsOf(useSyncExternalStore(conversations.subscribe, conversations.get), owner);
  const [search, setSearch] = useState("");
  const fitting = found(all, search);
  return (
    <Dialog title={texts.conversations} isOpen onClose={onClose}>
      <TextInput label={texts.findConversation} value={search} onChange={setSearch} autoFocus />
      {fitting.length === 0 && <p className="hint">{all.length === 0 ? texts.noConversations : texts.noConversationFits}</p>}
      <ul className="conversations" aria-label={texts.conversations}>
        {fitting.map((saved) => (
          <Row key={saved.id} owner={owner} saved={saved} onOpen={() => onOpen(saved)} />
        ))}
      </ul>
      <p className="hint">{owner.remote ? texts.conversationsKept : texts.conversationsHelp}</p>
    </Dialog>
  );
}
