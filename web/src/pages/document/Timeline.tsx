import { useQuery } from "@tanstack/react-query";
import { data, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { useFormat } from "../../ui/format";
import { Failure, Loading } from "../../ui/notices";
import { ServerText } from "../../ui/ServerText";
import { EventRows } from "../log/EventRows";
import { UndoButton } from "../log/UndoButton";
import { versionsOf } from "./versions";

const MOST = 500;

function useEvents(id: string, type?: ("DocumentAdded" | "DocumentDeleted")[]) {
  const api = useApi();
  return useQuery({
    queryKey: [useWorkspace(), "events", id, type ?? []],
    queryFn: async () => {
      const query = { limit: MOST, before: Number.MAX_SAFE_INTEGER, ...(type ? { type } : {}) };
      return data(await api.GET("/documents/{document_id}/events", { params: { path: { document_id: id }, query } })).events;
    },
  });
}

/** What happened to a document, from its adding on: the last of it, where that is very much. */
export function Timeline({ id }: { id: string }) {
  const events = useEvents(id);
  if (events.isPending) return <Loading />;
  if (events.error) return <Failure error={events.error} retry={() => void events.refetch()} />;
  return <EventRows events={events.data} />;
}

/** The texts that the document had, and how it was deleted; the last step is taken back here. */
export function Versions({ id }: { id: string }) {
  const texts = useTexts();
  const format = useFormat();
  const mayWrite = useMayWrite();
  const events = useEvents(id, ["DocumentAdded", "DocumentDeleted"]);
  if (events.isPending) return <Loading />;
  if (events.error) return <Failure error={events.error} retry={() => void events.refetch()} />;
  const versions = versionsOf(events.data);
  return (
    <ol className="letters versions">
      {versions.map(({ event, isNow, canUndo }) => (
        <li key={event.sequence}>
          <div>
            <strong>{event.type === "DocumentAdded" ? texts.document.textOf(event.sequence) : texts.document.deletion(event.sequence)}</strong>{" "}
            {isNow && <span className="badge processed">{texts.document.counts}</span>}
            <p>
              <ServerText text={event.text} /> <span className="hint">· {format.moment(event.time)}{event.actor ? ` · ${event.actor}` : ""}</span>
            </p>
          </div>
          {canUndo && mayWrite && <UndoButton sequence={event.sequence} />}
        </li>
      ))}
    </ol>
  );
}
