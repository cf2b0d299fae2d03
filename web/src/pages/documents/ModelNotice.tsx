import { useQuery } from "@tanstack/react-query";
import { data, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Notice } from "../../ui/notices";

/** Says that no language model is set, and the way out. */
export function ModelNotice() {
  const texts = useTexts();
  const api = useApi();
  const health = useQuery({
    queryKey: [useWorkspace(), "health"],
    queryFn: async () => data(await api.GET("/health")),
    staleTime: 60_000,
  });
  const configuration = health.data?.configuration as { llm_model?: string | null } | undefined;
  if (!configuration || configuration.llm_model) return null;
  return <Notice title={texts.documents.noModel}>{texts.documents.noModelText}</Notice>;
}
