import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { data, useApi, useWorkspace } from "../../api/client";
import { useDocumentName } from "../../api/documentNames";
import type { LogEvent } from "../../api/live";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { CopyButton } from "../../ui/controls";
import { useFormat, useMoney } from "../../ui/format";
import { Failure, Loading } from "../../ui/notices";
import { ServerText } from "../../ui/ServerText";
import { UNDOABLE, UndoButton } from "./UndoButton";

/** An event as it stands in the log. */
export function Whole({ sequence }: { sequence: number }) {
  const api = useApi();
  const whole = useQuery({
    queryKey: [useWorkspace(), "event", sequence],
    queryFn: async () => data(await api.GET("/events/{sequence}", { params: { path: { sequence } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (whole.isPending) return <Loading />;
  if (whole.error) return <Failure error={whole.error} />;
  const json = JSON.stringify(whole.data.event, null, 2);
  return (
    <div className="json">
      <CopyButton text={json} />
      <pre tabIndex={0}>{json}</pre>
    </div>
  );
}

/** What else is known of an event: model, tokens, money, duration, who caused it. */
function useFacts(event: LogEvent): string[] {
  const texts = useTexts();
  const money = useMoney();
  const tokens = (event.tokens?.prompt ?? 0) + (event.tokens?.completion ?? 0);
  return [
    !event.text.includes(event.model ?? " ") && event.model,
    tokens > 0 && texts.log.tokens(tokens),
    event.duration_ms !== null && event.duration_ms !== undefined && `${event.duration_ms} ms`,
    typeof event.money === "number" && money(event.money, event.currency ?? ""),
    event.cached && texts.log.cached,
    event.actor,
  ].filter((fact) => typeof fact === "string" && fact !== "") as string[];
}

function EventRow({ event, withDocument }: { event: LogEvent; withDocument: boolean }) {
  const texts = useTexts();
  const format = useFormat();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const [isOpen, setOpen] = useState(false);
  const facts = useFacts(event);
  const name = useDocumentName(withDocument ? event.document : "");
  const isOld = new Date(event.time).toDateString() !== new Date().toDateString();
  return (
    <li className={`event ${event.type}`}>
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <ChevronRight size={14} aria-hidden className={isOpen ? "open" : ""} />
        <span className="type">{event.type}</span>
        <span className="said">
          {name && !event.text.startsWith(name) && <strong>{name} </strong>}
          <ServerText text={event.text} />
        </span>
        <span className="facts-of">{facts.join(" · ")}</span>
        <time dateTime={String(event.time)} title={format.moment(event.time)}>
          {isOld && `${format.day(event.time)} `}
          {format.clock(event.time)}
        </time>
      </button>
      {isOpen && (
        <div className="inside">
          <div className="about">
            #{event.sequence}
            {event.trace_id && ` · ${texts.log.trace} ${event.trace_id}`}
            {withDocument && event.document.startsWith("doc-") && (
              <Link to={`/${workspace}/documents/${encodeURIComponent(event.document)}`}>{texts.log.document}</Link>
            )}
            {mayWrite && UNDOABLE.has(event.type) && <UndoButton sequence={event.sequence} />}
          </div>
          <Whole sequence={event.sequence} />
        </div>
      )}
    </li>
  );
}

/** Events, each of which opens as what stands in the log. */
export function EventRows({ events, withDocument = false }: { events: LogEvent[]; withDocument?: boolean }) {
  return (
    <ol className="events">
      {events.map((event) => (
        <EventRow key={event.sequence} event={event} withDocument={withDocument} />
      ))}
    </ol>
  );
}
