import { useQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { useState, useSyncExternalStore } from "react";
import { data, useApi, useWorkspace } from "../../api/client";
import { liveEvents } from "../../api/live";
import { useTexts } from "../../texts";
import { Select } from "../../ui/controls";
import { Empty, Failure, Loading } from "../../ui/notices";
import { DeadLetters } from "./DeadLetters";
import { EventRows } from "./EventRows";

const TYPES = [
  "DocumentAdded",
  "ChunksCreated",
  "EntitiesExtracted",
  "GraphMerged",
  "VectorsIndexed",
  "DescriptionSummarized",
  "DocumentDeleted",
  "GraphEdited",
  "RetryRequested",
  "StageFailed",
] as const;

/** The log of the workspace as it grows, and what could not be handled. */
export default function LogPage() {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const [type, setType] = useState<(typeof TYPES)[number] | "all">("all");
  const live = useSyncExternalStore(liveEvents.subscribe, liveEvents.get);
  const earlier = useQuery({
    queryKey: [workspace, "log", type],
    queryFn: async () =>
      data(await api.GET("/events", { params: { query: { limit: 100, ...(type === "all" ? {} : { type: [type] }) } } })),
  });
  const newest = live.workspace === workspace ? live.events.filter((event) => type === "all" || event.type === type) : [];
  const seen = new Set(newest.map((event) => event.sequence));
  const shown = [...newest, ...(earlier.data?.events ?? []).filter((event) => !seen.has(event.sequence)).reverse()];
  return (
    <div className="page">
      <header className="title">
        <h1>{texts.log.title}</h1>
        <Select
          label={texts.log.type}
          hideLabel
          value={type}
          onChange={setType}
          choices={[{ id: "all" as const, name: texts.log.allTypes }, ...TYPES.map((id) => ({ id, name: id }))]}
        />
      </header>
      <DeadLetters />
      {earlier.error && <Failure error={earlier.error} retry={() => void earlier.refetch()} />}
      {earlier.isPending && <Loading />}
      {earlier.data && shown.length === 0 && <Empty icon={ScrollText} title={texts.log.empty} />}
      <EventRows events={shown} withDocument />
    </div>
  );
}
