import { useQuery } from "@tanstack/react-query";
import { data, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Failure, Loading, Notice } from "../../ui/notices";
import { mergePreview } from "./merging";
import type { Part } from "./useSubgraph";

/** What merging would make of two entities, before it is done. */
export function MergePreview({ name, other }: { name: string; other: string }) {
  const texts = useTexts();
  const api = useApi();
  const preview = useQuery({
    queryKey: [useWorkspace(), "merge", name, other],
    queryFn: async () => {
      const around = async (label: string) => data(await api.GET("/graphs", { params: { query: { label, max_depth: 1, max_nodes: 1000 } } })) as Part;
      return mergePreview(name, await around(name), other, await around(other));
    },
  });
  if (preview.isPending) return <Loading />;
  if (preview.error) return <Failure error={preview.error} />;
  const { sentences, type, moved, shared, between, isCut } = preview.data;
  return (
    <Notice kind="warning" title={texts.graph.mergeWarning(name, other)}>
      <ul className="merge-preview">
        <li>
          {isCut && texts.graph.atLeast} {texts.graph.mergeMoves(moved, shared)}
        </li>
        {between > 0 && <li>{texts.graph.mergeBetween}</li>}
        <li>{texts.graph.mergeSays(other, type, sentences.length)}</li>
        {sentences.map((sentence) => (
          <li key={sentence} className="said">
            {sentence}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
