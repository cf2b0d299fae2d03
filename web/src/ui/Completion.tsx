import { Search as Glass } from "lucide-react";
import { ComboBox, Input, Label, ListBox, ListBoxItem, Popover } from "react-aria-components";

export interface Named {
  id: string;
  name: string;
}

type CompletionProps = {
  label: string;
  items: Named[];
  written: string;
  chosen: string;
  /** Said when nothing is found. */
  nothing: string;
  onWrite: (text: string) => void;
  onChoose: (item: Named) => void;
};

/** A field that offers what fits the letters written so far. */
export function Completion({ label, items, written, chosen, nothing, onWrite, onChoose }: CompletionProps) {
  return (
    <ComboBox
      className="search"
      items={items}
      inputValue={written}
      onInputChange={onWrite}
      onSelectionChange={(id) => {
        const item = items.find((one) => one.id === id);
        if (item) onChoose(item);
      }}
      selectedKey={chosen || null}
      menuTrigger="focus"
      allowsEmptyCollection
    >
      <Label className="hidden">{label}</Label>
      <Glass size={15} aria-hidden />
      <Input placeholder={label} />
      <Popover className="popover">
        <ListBox className="options" renderEmptyState={() => <p className="hint">{nothing}</p>}>
          {(item: Named) => (
            <ListBoxItem id={item.id} textValue={item.name} className="option">
              {item.name}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
