import { useQuery } from "@tanstack/react-query";
import { data, useApi, useWorkspace } from "../../api/client";
import { Failure, Loading } from "../../ui/notices";
import { EventRows } from "../log/EventRows";

/** What happened to a document, from its adding on. */
export function Timeline({ id }: { id: string }) {
  const api = useApi();
  const events = useQuery({
    queryKey: [useWorkspace(), "events", id],
    queryFn: async () =>
      data(
        await api.GET("/documents/{document_id}/events", { params: { path: { document_id: id }, query: { limit: 500 } } }),
      ),
  });
  if (events.isPending) return <Loading />;
  if (events.error) return <Failure error={events.error} retry={() => void events.refetch()} />;
  return <EventRows events={events.data.events} />;
}
