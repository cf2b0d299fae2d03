import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { data, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Completion, type Named } from "../../ui/Completion";

/** Entities with this in their name; without it those with most relations. */
export function useNames(written: string): Named[] {
  const api = useApi();
  const wanted = useDeferredValue(written.trim());
  const names = useQuery({
    queryKey: [useWorkspace(), "names", wanted],
    queryFn: async () =>
      wanted
        ? data(await api.GET("/graph/label/search", { params: { query: { q: wanted, limit: 20 } } }))
        : data(await api.GET("/graph/label/popular", { params: { query: { limit: 20 } } })),
    placeholderData: (before) => before,
  });
  return [...new Set(names.data ?? [])].map((name) => ({ id: name, name }));
}

/** Finds an entity by a part of its name; without one it offers those with most relations. */
export function Search({ onChoose }: { onChoose: (name: string) => void }) {
  const texts = useTexts();
  const [written, setWritten] = useState("");
  const [chosen, setChosen] = useState(0);
  const found = useNames(written);
  return (
    // A new box for each choice: emptied, the old one would open its list again, which hides the rest of the page.
    <Completion
      key={chosen}
      label={texts.graph.search}
      items={found}
      written={written}
      chosen=""
      nothing={texts.graph.nothingFound}
      onWrite={setWritten}
      onChoose={({ name }) => {
        onChoose(name);
        setWritten("");
        setChosen(chosen + 1);
      }}
    />
  );
}
