import { Check, Contrast, Languages, type LucideIcon } from "lucide-react";
import { useSyncExternalStore } from "react";
import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { LANGUAGES, type Language, useTexts } from "../texts";
import { Button } from "../ui/controls";
import { prefer, preferences, type Theme } from "./preferences";

type ChoiceMenuProps = {
  icon: LucideIcon;
  label: string;
  value: string;
  choices: [string, string][];
  onChoose: (id: string) => void;
};

function ChoiceMenu({ icon, label, value, choices, onChoose }: ChoiceMenuProps) {
  return (
    <MenuTrigger>
      <Button look="quiet" icon={icon} label={label} />
      <Popover className="popover">
        <Menu
          className="options"
          aria-label={label}
          selectionMode="single"
          selectedKeys={[value]}
          onAction={(key) => onChoose(String(key))}
        >
          {choices.map(([id, name]) => (
            <MenuItem key={id} id={id} textValue={name} className="option">
              {name}
              {id === value && <Check size={14} aria-hidden />}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

const usePreferences = () => useSyncExternalStore(preferences.subscribe, preferences.get);

export function LanguageMenu() {
  const texts = useTexts();
  return (
    <ChoiceMenu
      icon={Languages}
      label={texts.shell.language}
      value={usePreferences().language}
      choices={Object.entries(LANGUAGES).map(([id, words]) => [id, words.language])}
      onChoose={(id) => prefer({ language: id as Language })}
    />
  );
}

export function ThemeMenu() {
  const texts = useTexts();
  return (
    <ChoiceMenu
      icon={Contrast}
      label={texts.shell.theme}
      value={usePreferences().theme}
      choices={[
        ["light", texts.shell.light],
        ["dark", texts.shell.dark],
        ["system", texts.shell.system],
      ]}
      onChoose={(id) => prefer({ theme: id as Theme })}
    />
  );
}
