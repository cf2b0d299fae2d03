import { useQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { useDeferredValue, useState, useSyncExternalStore } from "react";
import { data, useApi, useWorkspace } from "../../api/client";
import { liveEvents } from "../../api/live";
import { useSeesAll } from "../../api/principal";
import { useTexts } from "../../texts";
import { Completion } from "../../ui/Completion";
import { Select } from "../../ui/controls";
import { Empty, Failure, Loading } from "../../ui/notices";
import { Causes } from "./Causes";
import { Consumers } from "./Consumers";
import { DeadLetters } from "./DeadLetters";
import { EventRows } from "./EventRows";
import { admits, type Filter, type Stage, STAGES, TYPES, typesOf } from "./filters";

/** Finds the document whose events are shown, by its name. */
function DocumentFilter({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const texts = useTexts();
  const api = useApi();
  const [written, setWritten] = useState("");
  const wanted = useDeferredValue(written.trim());
  const found = useQuery({
    queryKey: [useWorkspace(), "documents", "named", wanted],
    queryFn: async () => data(await api.POST("/documents/paginated", { body: { page: 1, page_size: 20, sort_field: "updated_at", sort_direction: "desc", search: wanted } })).documents,
    placeholderData: (before) => before,
  });
  const items = (found.data ?? []).map(({ id, file_path }) => ({ id, name: file_path }));
  return (
    <Completion
      label={texts.log.ofDocument}
      items={items}
      written={written}
      chosen={value}
      nothing={texts.documents.nothingFound}
      onWrite={(text) => {
        setWritten(text);
        if (!text) onChange("");
      }}
      onChoose={({ id, name }) => {
        setWritten(name);
        onChange(id);
      }}
    />
  );
}

/** The log of the workspace as it grows, and what could not be handled. */
export default function LogPage() {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const seesAll = useSeesAll();
  const [filter, setFilter] = useState<Filter>({ type: "all", stage: "all", document: "" });
  const set = (change: Partial<Filter>) => setFilter({ ...filter, ...change });
  const types = typesOf(filter);
  const live = useSyncExternalStore(liveEvents.subscribe, liveEvents.get);
  const earlier = useQuery({
    queryKey: [workspace, "log", types, filter.document],
    queryFn: async () =>
      data(await api.GET("/events", { params: { query: { limit: 100, ...(types.length ? { type: types } : {}), ...(filter.document ? { document: filter.document } : {}) } } })),
  });
  const newest = live.workspace === workspace ? live.events.filter((event) => admits(filter, event)) : [];
  const seen = new Set(newest.map((event) => event.sequence));
  const shown = [...newest, ...(earlier.data?.events ?? []).filter((event) => !seen.has(event.sequence) && admits(filter, event)).reverse()];
  return (
    <div className="page">
      <header className="title">
        <h1>{texts.log.title}</h1>
        <div className="add">
          <DocumentFilter value={filter.document} onChange={(document) => set({ document })} />
          <Select
            label={texts.log.stage}
            hideLabel
            value={filter.stage}
            onChange={(stage) => set({ stage })}
            choices={[{ id: "all" as const, name: texts.log.allStages }, ...(Object.keys(STAGES) as Stage[]).map((id) => ({ id, name: texts.log.stages[id] }))]}
          />
          <Select
            label={texts.log.type}
            hideLabel
            value={filter.type}
            onChange={(type) => set({ type })}
            choices={[{ id: "all" as const, name: texts.log.allTypes }, ...TYPES.map((id) => ({ id, name: id }))]}
          />
        </div>
      </header>
      {seesAll && <Consumers />}
      <Causes />
      <DeadLetters />
      {earlier.error && <Failure error={earlier.error} retry={() => void earlier.refetch()} />}
      {earlier.isPending && <Loading />}
      {earlier.data && shown.length === 0 && <Empty icon={ScrollText} title={texts.log.empty} />}
      <EventRows events={shown} withDocument />
    </div>
  );
}
