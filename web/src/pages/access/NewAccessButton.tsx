import { Eye, EyeOff } from "lucide-react";
import { type FormEvent, useState, useSyncExternalStore } from "react";
import { useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button, TextInput } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { chooseNewAccess, type NewAccess, newAccess, principalsIn } from "./newAccess";

/** Who may see what is added here; nothing: everyone. */
export function useNewAccess(): NewAccess | undefined {
  return useSyncExternalStore(newAccess.subscribe, newAccess.get)[useWorkspace()];
}

function NewAccessDialog({ onClose }: { onClose: () => void }) {
  const all = useTexts();
  const texts = all.access;
  const workspace = useWorkspace();
  const access = useNewAccess();
  const [allow, setAllow] = useState((access?.allow ?? ["everyone"]).join(", "));
  const [deny, setDeny] = useState((access?.deny ?? []).join(", "));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    chooseNewAccess(workspace, { allow: principalsIn(allow), deny: principalsIn(deny) });
    onClose();
  };
  return (
    <Dialog title={texts.newTitle} isOpen onClose={onClose} wide>
      <form onSubmit={submit}>
        <p>{texts.newText}</p>
        <TextInput label={texts.allow} hint={texts.newAllowHint} value={allow} onChange={setAllow} autoFocus />
        <TextInput label={texts.deny} hint={texts.denyHint} value={deny} onChange={setDeny} />
        <div className="actions">
          <Button onPress={onClose}>{all.common.cancel}</Button>
          <Button type="submit" look="primary">
            {texts.choose}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Says who sees what is added here, and changes it. */
export function NewAccessButton() {
  const texts = useTexts().access;
  const access = useNewAccess();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {access ? (
        <Button look="quiet" icon={EyeOff} onPress={() => setOpen(true)}>
          {texts.newSeenBy(access.allow.join(", "))}
        </Button>
      ) : (
        <Button look="quiet" icon={Eye} label={texts.newSeenBy(texts.everyone)} onPress={() => setOpen(true)} />
      )}
      {isOpen && <NewAccessDialog onClose={() => setOpen(false)} />}
    </>
  );
}
