import { useQuery } from "@tanstack/react-query";
import { Search as Glass } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { ComboBox, Input, Label, ListBox, ListBoxItem, Popover } from "react-aria-components";
import { data, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";

/** Finds an entity by a part of its name; without one it offers those with most relations. */
export function Search({ onChoose }: { onChoose: (name: string) => void }) {
  const texts = useTexts();
  const api = useApi();
  const [written, setWritten] = useState("");
  const wanted = useDeferredValue(written.trim());
  const names = useQuery({
    queryKey: [useWorkspace(), "names", wanted],
    queryFn: async () =>
      wanted
        ? data(await api.GET("/graph/label/search", { params: { query: { q: wanted, limit: 20 } } }))
        : data(await api.GET("/graph/label/popular", { params: { query: { limit: 20 } } })),
    placeholderData: (before) => before,
  });
  const found = [...new Set(names.data ?? [])].map((name) => ({ id: name }));
  return (
    <ComboBox
      className="search"
      items={found}
      inputValue={written}
      onInputChange={setWritten}
      onSelectionChange={(name) => {
        if (name === null) return;
        onChoose(String(name));
        setWritten("");
      }}
      selectedKey={null}
      menuTrigger="focus"
      allowsEmptyCollection
    >
      <Label className="hidden">{texts.graph.search}</Label>
      <Glass size={15} aria-hidden />
      <Input placeholder={texts.graph.search} />
      <Popover className="popover">
        <ListBox className="options" renderEmptyState={() => <p className="hint">{texts.graph.nothingFound}</p>}>
          {(item: { id: string }) => (
            <ListBoxItem id={item.id} textValue={item.id} className="option">
              {item.id}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
