import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { useEffect, useSyncExternalStore } from "react";
import { Link } from "react-router";
import { data, useApi, useWorkspace } from "../../api/client";
import { noteNames, useDocumentName } from "../../api/documentNames";
import { liveEvents, type LogEvent } from "../../api/live";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Empty, Failure, Loading } from "../../ui/notices";
import { byDay, CHANGES, newTexts } from "./dayGroups";
import { UndoButton } from "./UndoButton";
import { UndoSince } from "./UndoSince";

const PER_PAGE = 50;

interface Edit {
  operation: string;
  names: string[];
  target?: string | null;
  values?: { type?: string | null; description?: string | null };
  undoes?: number | null;
}

/** An edit of the graph as the log has it. */
function useEdit({ sequence, type }: LogEvent): Edit | undefined {
  const api = useApi();
  const whole = useQuery({
    queryKey: [useWorkspace(), "event", sequence],
    queryFn: async () => data(await api.GET("/events/{sequence}", { params: { path: { sequence } } })),
    enabled: type === "GraphEdited",
    staleTime: Number.POSITIVE_INFINITY,
  });
  return whole.data?.event.data as Edit | undefined;
}

/** Which kind an entity had before an edit gave it another. */
function useFormerType(edit: Edit | undefined, sequence: number): string {
  const api = useApi();
  const name = edit?.operation === "edit_entity" && edit.values?.type ? (edit.names[0] ?? "") : "";
  const history = useQuery({
    queryKey: [useWorkspace(), "former", name, sequence],
    queryFn: async () => data(await api.GET("/graph/entity/history", { params: { query: { name, at: String(sequence), limit: 1000 } } })).events,
    enabled: name !== "",
    staleTime: Number.POSITIVE_INFINITY,
  });
  const before = (history.data ?? []).filter((event) => event.sequence < sequence && event.entity_type);
  return before.at(-1)?.entity_type ?? "";
}

/** An edit in words; in those of the server until it is read. */
function useEditWords(event: LogEvent, edit: Edit | undefined): string {
  const texts = useTexts().log;
  const former = useFormerType(edit, event.sequence);
  if (!edit) return event.text;
  const { operation, target, values } = edit;
  const names = edit.names.join(", ");
  if (operation === "edit_entity" && values?.type) return texts.typeChanged(names, former, values.type);
  const words = texts.edits[operation];
  return words ? words(operation.endsWith("relation") ? edit.names.join(" – ") : names, target ?? "", edit.undoes ?? 0) : event.text;
}

function DocumentWords({ event, isNewText }: { event: LogEvent; isNewText: boolean }) {
  const texts = useTexts().log;
  const workspace = useWorkspace();
  const name = useDocumentName(event.document);
  const words = isNewText ? texts.newText : (texts.happened[event.type] ?? event.type);
  return (
    <>
      {words} <Link to={`/${workspace}/documents/${encodeURIComponent(event.document)}`}>{name || event.document}</Link>
    </>
  );
}

type ChangeProps = { event: LogEvent; isNewText: boolean; undone: ReadonlySet<number> };

function Change({ event, isNewText, undone }: ChangeProps) {
  const texts = useTexts();
  const format = useFormat();
  const mayWrite = useMayWrite();
  const edit = useEdit(event);
  const words = useEditWords(event, edit);
  const isOfGraph = event.type === "GraphEdited";
  const isUndoing = edit?.operation.startsWith("undo_") ?? false;
  const canUndo = event.type === "DocumentDeleted" || (isOfGraph && edit !== undefined && !isUndoing) || isNewText;
  return (
    <li>
      <time dateTime={String(event.time)} title={format.moment(event.time)}>
        {format.minute(event.time)}
      </time>
      <div>
        {isOfGraph || event.type === "BudgetSet" ? words : <DocumentWords event={event} isNewText={isNewText} />}
        {event.actor && <span className="hint"> · {event.actor}</span>}
        {undone.has(event.sequence) && <span className="badge"> {texts.log.undone}</span>}
      </div>
      {mayWrite && canUndo && !undone.has(event.sequence) && <UndoButton sequence={event.sequence} />}
    </li>
  );
}

/** What people did, in words, by day, the newest first; each of it is undone here, and all of a day and after. */
export function Changes() {
  const texts = useTexts();
  const format = useFormat();
  const api = useApi();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const live = useSyncExternalStore(liveEvents.subscribe, liveEvents.get);
  const changes = useInfiniteQuery({
    queryKey: [workspace, "changes"],
    queryFn: async ({ pageParam }) => {
      const query = { limit: PER_PAGE, type: [...CHANGES], ...(pageParam ? { before: pageParam } : {}) };
      const page = data(await api.GET("/events", { params: { query } }));
      noteNames(queries, workspace, page.events);
      return page;
    },
    initialPageParam: 0,
    getNextPageParam: (page) => (page.remaining > 0 ? page.before : undefined),
  });
  const { refetch } = changes;
  const newest = live.events.find(({ type }) => CHANGES.some((change) => change === type))?.sequence ?? 0;
  useEffect(() => {
    if (newest > 0) void refetch();
  }, [newest, refetch]);

  const events = changes.data?.pages.flatMap((page) => page.events) ?? [];
  const replaced = newTexts(events);
  const undone = new Set(events.flatMap(({ text }) => /^undo edit .*? of sequence ([\d,]+)/.exec(text)?.[1]?.replaceAll(",", "") ?? []).map(Number));
  if (changes.isPending) return <Loading />;
  if (changes.error) return <Failure error={changes.error} retry={() => void refetch()} />;
  if (events.length === 0) return <Empty icon={ScrollText} title={texts.log.empty} />;
  return (
    <div className="days">
      {byDay(events).map((day) => (
        <section key={day.start} aria-labelledby={`day-${day.start}`}>
          <header>
            <h2 id={`day-${day.start}`}>{format.day(day.start)}</h2>
            {mayWrite && <UndoSince sequence={(day.events.at(-1)?.sequence ?? 1) - 1} day={format.day(day.start)} />}
          </header>
          <ol>
            {day.events.map((event) => (
              <Change key={event.sequence} event={event} isNewText={replaced.has(event.sequence)} undone={undone} />
            ))}
          </ol>
        </section>
      ))}
      {changes.hasNextPage && (
        <Button isDisabled={changes.isFetchingNextPage} onPress={() => void changes.fetchNextPage()}>
          {texts.document.showMore}
        </Button>
      )}
    </div>
  );
}
