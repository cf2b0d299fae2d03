import { useQueryClient } from "@tanstack/react-query";
import { createParser } from "eventsource-parser";
import { useEffect } from "react";
import { createStore } from "../ui/store";
import { noteNames } from "./documentNames";
import { request, type Schemas, useWorkspace } from "./client";

export type LogEvent = Schemas["EventSummary"];

const KEPT = 500;
const WAIT = 3_000;
/** Milliseconds without a byte after which a stream is taken for dead: the server sends something every 15 s. */
const SILENCE = 40_000;
const PLACE = /^id: (\d+)\n/gm;
/** Milliseconds between two refreshes that events give rise to; a busy log has hundreds a second. */
const REFRESH = 700;

/** The newest events of the workspace since the page was opened, the newest first. */
export const liveEvents = createStore<{ workspace: string; events: LogEvent[] }>({ workspace: "", events: [] });

/** Hears events until the stream ends. `place.last` is where it goes on, however it ends. */
async function follow(workspace: string, place: { last: string }, signal: AbortSignal, heard: (event: LogEvent) => void): Promise<void> {
  const headers: Record<string, string> = place.last ? { "Last-Event-ID": place.last } : {};
  const response = await request("/events/stream", workspace, { headers, signal });
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  const parser = createParser({
    onEvent({ data }) {
      if (data) heard(JSON.parse(data) as LogEvent);
    },
  });
  for (;;) {
    const silent = setTimeout(() => void reader.cancel(), SILENCE);
    const { done, value } = await reader.read().finally(() => clearTimeout(silent));
    if (done) return;
    parser.feed(value);
    // Where a stream stands is also told when nothing has happened, which the parser does not pass on.
    place.last = [...value.matchAll(PLACE)].at(-1)?.[1] ?? place.last;
  }
}

/** Listens to the log of the workspace, and has what is shown of its documents asked for anew when something happens. */
export function useLiveEvents(): void {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  useEffect(() => {
    const control = new AbortController();
    const place = { last: "" };
    let timer: ReturnType<typeof setTimeout> | undefined;
    liveEvents.set({ workspace, events: [] });
    const heard = (event: LogEvent) => {
      if (liveEvents.get().events.some(({ sequence }) => sequence === event.sequence)) return;
      liveEvents.set({ workspace, events: [event, ...liveEvents.get().events].slice(0, KEPT) });
      noteNames(queries, workspace, [event]);
      timer ??= setTimeout(() => {
        timer = undefined;
        for (const what of ["documents", "document", "chunks", "events"]) void queries.invalidateQueries({ queryKey: [workspace, what] });
      }, REFRESH);
    };
    const run = async () => {
      while (!control.signal.aborted) {
        // A stream that cannot be had (too many, an older server) is no fault: the lists poll as well.
        await follow(workspace, place, control.signal, heard).catch(() => undefined);
        if (!control.signal.aborted) await new Promise((resolve) => setTimeout(resolve, WAIT));
      }
    };
    void run();
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [workspace, queries]);
}
