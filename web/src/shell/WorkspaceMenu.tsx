import { ChevronsUpDown, Layers } from "lucide-react";
import { type FormEvent, useState, useSyncExternalStore } from "react";
import { DialogTrigger, Dialog as Panel, Popover } from "react-aria-components";
import { useLocation, useNavigate } from "react-router";
import { useWorkspace } from "../api/client";
import { usePrincipal } from "../api/principal";
import { useTexts } from "../texts";
import { Button, TextInput } from "../ui/controls";
import { prefer, preferences } from "./preferences";

const NAME = /^(?!x-)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const REMEMBERED = 8;

/** The workspaces to choose from: those the credentials are bound to, else those that were opened here. */
export function useKnown(current: string): string[] {
  const principal = usePrincipal();
  const opened = useSyncExternalStore(preferences.subscribe, () => preferences.get().workspaces);
  if (!principal.workspaces.includes("*")) return principal.workspaces;
  return [...new Set([current, principal.default_workspace, ...opened])].filter(Boolean);
}

export function WorkspaceMenu() {
  const texts = useTexts();
  const current = useWorkspace();
  const known = useKnown(current);
  const anyName = usePrincipal().workspaces.includes("*");
  const [name, setName] = useState("");
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const page = useLocation().pathname.split("/")[2] ?? "documents";

  const open = (workspace: string) => {
    const others = preferences.get().workspaces.filter((other) => other !== workspace);
    prefer({ workspaces: [workspace, ...others].slice(0, REMEMBERED) });
    setOpen(false);
    setName("");
    void navigate(`/${workspace}/${page}`);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (NAME.test(name)) open(name);
  };

  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button look="quiet" icon={Layers} className="workspace" label={`${texts.shell.workspace}: ${current}`}>
        <span className="name">{current}</span>
        <ChevronsUpDown size={14} aria-hidden />
      </Button>
      <Popover className="popover panel" placement="bottom start">
        <Panel aria-label={texts.shell.workspace} className="workspace-panel">
          <ul>
            {known.map((workspace) => (
              <li key={workspace}>
                <Button
                  look="quiet"
                  onPress={() => open(workspace)}
                  {...(workspace === current ? { className: "current" } : {})}
                >
                  {workspace}
                </Button>
              </li>
            ))}
          </ul>
          {anyName && (
            <form onSubmit={submit}>
              <TextInput
                label={texts.shell.workspace}
                value={name}
                onChange={setName}
                hint={name && !NAME.test(name) ? texts.shell.workspaceInvalid : texts.shell.workspaceHelp}
              />
              <Button type="submit" isDisabled={!NAME.test(name)}>
                {texts.shell.switchTo}
              </Button>
            </form>
          )}
        </Panel>
      </Popover>
    </DialogTrigger>
  );
}
