import { useQueryClient } from "@tanstack/react-query";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { useEffect } from "react";
import { createStore } from "../ui/store";
import { request, type Schemas, useWorkspace } from "./client";

export type LogEvent = Schemas["EventSummary"];

const KEPT = 500;
const WAIT = 3_000;
/** Milliseconds between two refreshes that events give rise to; a busy log has hundreds a second. */
const REFRESH = 700;

/** The newest events of the workspace since the page was opened, the newest first. */
export const liveEvents = createStore<{ workspace: string; events: LogEvent[] }>({ workspace: "", events: [] });

async function follow(workspace: string, last: string, signal: AbortSignal, heard: (event: LogEvent) => void): Promise<string> {
  const headers: Record<string, string> = last ? { "Last-Event-ID": last } : {};
  const response = await request("/events/stream", workspace, { headers, signal });
  if (!response.body) return last;
  const bytes = response.body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>);
  const reader = bytes.pipeThrough(new EventSourceParserStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return last;
    last = value.id ?? last;
    if (value.data) heard(JSON.parse(value.data) as LogEvent);
  }
}

/** Listens to the log of the workspace, and has what is shown of its documents asked for anew when something happens. */
export function useLiveEvents(): void {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  useEffect(() => {
    const control = new AbortController();
    let last = "";
    let timer: ReturnType<typeof setTimeout> | undefined;
    liveEvents.set({ workspace, events: [] });
    const heard = (event: LogEvent) => {
      liveEvents.set({ workspace, events: [event, ...liveEvents.get().events].slice(0, KEPT) });
      timer ??= setTimeout(() => {
        timer = undefined;
        for (const what of ["documents", "document", "chunks", "events"]) void queries.invalidateQueries({ queryKey: [workspace, what] });
      }, REFRESH);
    };
    const run = async () => {
      while (!control.signal.aborted) {
        // A stream that cannot be had (too many, an older server) is no fault: the lists poll as well.
        last = await follow(workspace, last, control.signal, heard).catch(() => last);
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
