import { useQuery } from "@tanstack/react-query";
import { ApiError, data, useApi, useWorkspace } from "./client";

/** The name of a document as it was last added, also of one that was deleted; "" while it is not known, or where the log has it no more. */
export function useDocumentName(id: string): string {
  const api = useApi();
  const isDocument = id !== "" && !id.startsWith("_");
  const found = useQuery({
    queryKey: [useWorkspace(), "name", id],
    queryFn: async () => {
      const query = { type: ["DocumentAdded" as const], limit: 1, before: Number.MAX_SAFE_INTEGER };
      try {
        const { events } = data(await api.GET("/documents/{document_id}/events", { params: { path: { document_id: id }, query } }));
        return events.at(-1)?.text.replace(/, [\d,]+ bytes$/, "") ?? "";
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return "";
        throw error;
      }
    },
    enabled: isDocument,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return found.data ?? "";
}
