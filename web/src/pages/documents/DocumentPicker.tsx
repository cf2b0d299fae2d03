import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { data, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Completion } from "../../ui/Completion";

type DocumentPickerProps = {
  label: string;
  value: string;
  onChange: (id: string) => void;
  /** Whether the field is empty again after a choice. */
  isOnce?: boolean;
};

/** Finds a document by its name. Calls `onChange` with its id, and with "" when the field is emptied. */
export function DocumentPicker({ label, value, onChange, isOnce = false }: DocumentPickerProps) {
  const texts = useTexts();
  const api = useApi();
  const [written, setWritten] = useState("");
  const [chosen, setChosen] = useState(0);
  const wanted = useDeferredValue(written.trim());
  const found = useQuery({
    queryKey: [useWorkspace(), "documents", "named", wanted],
    queryFn: async () => data(await api.POST("/documents/paginated", { body: { page: 1, page_size: 20, sort_field: "updated_at", sort_direction: "desc", search: wanted } })).documents,
    placeholderData: (before) => before,
  });
  const items = (found.data ?? []).map(({ id, file_path }) => ({ id, name: file_path }));
  return (
    // A new box for each choice: emptied, the old one would open its list again.
    <Completion
      key={isOnce ? chosen : 0}
      label={label}
      items={items}
      written={written}
      chosen={value}
      nothing={texts.documents.nothingFound}
      onWrite={(text) => {
        setWritten(text);
        if (!text) onChange("");
      }}
      onChoose={({ id, name }) => {
        setWritten(isOnce ? "" : name);
        setChosen(chosen + 1);
        onChange(id);
      }}
    />
  );
}
