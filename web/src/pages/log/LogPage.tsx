import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { useState, useSyncExternalStore } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { useSearchParams } from "react-router";
import { data, useApi, useWorkspace } from "../../api/client";
import { noteNames } from "../../api/documentNames";
import { liveEvents } from "../../api/live";
import { useSeesAll } from "../../api/principal";
import { useTexts } from "../../texts";
import { Select } from "../../ui/controls";
import { Empty, Failure, Loading } from "../../ui/notices";
import { DocumentPicker } from "../documents/DocumentPicker";
import { Causes } from "./Causes";
import { Changes } from "./Changes";
import { Consumers } from "./Consumers";
import { DeadLetters } from "./DeadLetters";
import { EventRows } from "./EventRows";
import { admits, type Filter, type Stage, STAGES, TYPES, typesOf } from "./filters";

/** Every event of the log as it grows, those of services too, and what could not be handled. */
function Events() {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const seesAll = useSeesAll();
  const [filter, setFilter] = useState<Filter>({ type: "all", stage: "all", document: "" });
  const set = (change: Partial<Filter>) => setFilter({ ...filter, ...change });
  const types = typesOf(filter);
  const live = useSyncExternalStore(liveEvents.subscribe, liveEvents.get);
  const earlier = useQuery({
    queryKey: [workspace, "log", types, filter.document],
    queryFn: async () => {
      const query = { limit: 100, ...(types.length ? { type: types } : {}), ...(filter.document ? { document: filter.document } : {}) };
      const page = data(await api.GET("/events", { params: { query } }));
      noteNames(queries, workspace, page.events);
      return page;
    },
  });
  const newest = live.workspace === workspace ? live.events.filter((event) => admits(filter, event)) : [];
  const seen = new Set(newest.map((event) => event.sequence));
  const shown = [...newest, ...(earlier.data?.events ?? []).filter((event) => !seen.has(event.sequence) && admits(filter, event)).reverse()];
  return (
    <>
      <div className="add">
        <DocumentPicker label={texts.log.ofDocument} value={filter.document} onChange={(document) => set({ document })} />
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
      {seesAll && <Consumers />}
      <Causes />
      <DeadLetters />
      {earlier.error && <Failure error={earlier.error} retry={() => void earlier.refetch()} />}
      {earlier.isPending && <Loading />}
      {earlier.data && shown.length === 0 && <Empty icon={ScrollText} title={texts.log.empty} />}
      <EventRows events={shown} withDocument />
    </>
  );
}

const VIEWS = ["changes", "events"] as const;

/** What happened in the workspace: what people did, in words, and all events as the log has them. */
export default function LogPage() {
  const texts = useTexts();
  const [params, setParams] = useSearchParams();
  const view = VIEWS.find((one) => one === params.get("view")) ?? "changes";
  return (
    <div className="page">
      <header className="title">
        <h1>{texts.log.title}</h1>
      </header>
      <Tabs className="tabs" selectedKey={view} onSelectionChange={(key) => setParams(key === "changes" ? {} : { view: String(key) }, { replace: true })}>
        <TabList aria-label={texts.log.title} className="tab-list">
          {VIEWS.map((id) => (
            <Tab key={id} id={id}>
              {texts.log.views[id]}
            </Tab>
          ))}
        </TabList>
        <TabPanel id="changes">
          <Changes />
        </TabPanel>
        <TabPanel id="events" className="stack">
          <Events />
        </TabPanel>
      </Tabs>
    </div>
  );
}
