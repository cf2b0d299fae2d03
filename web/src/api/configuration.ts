import { useQuery } from "@tanstack/react-query";
import { data, useApi, useWorkspace } from "./client";

export interface Configuration {
  llm_model?: string | null;
  default_mode?: string;
  embedding_model?: string;
}

/** What the service tells of its models and defaults, once it has answered. */
export function useConfiguration(): Configuration | undefined {
  const api = useApi();
  const health = useQuery({
    queryKey: [useWorkspace(), "health"],
    queryFn: async () => data(await api.GET("/health")),
    staleTime: 60_000,
  });
  return health.data?.configuration as Configuration | undefined;
}
