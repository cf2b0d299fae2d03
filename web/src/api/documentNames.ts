import { type QueryClient, useQuery } from "@tanstack/react-query";
import { ApiError, data, type Schemas, useApi, useWorkspace } from "./client";

type Event = Schemas["EventSummary"];

/** The name of a document in the words of the event that added it. */
export const nameIn = ({ text }: Event) => text.replace(/, [\d,]+ bytes$/, "");

/** Notes the names that additions tell, so that nobody asks for them. */
export function noteNames(queries: QueryClient, workspace: string, events: readonly Event[]): void {
  for (const event of events) if (event.type === "DocumentAdded") queries.setQueryData([workspace, "name", event.document], nameIn(event));
}

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
        const added = events.at(-1);
        return added ? nameIn(added) : "";
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
