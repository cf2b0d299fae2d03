import type { Schemas } from "../../api/client";

type Event = Schemas["EventSummary"];

/** Which of the texts counts, and which event ended the one before; the newest first. */
export function versionsOf(events: Event[]): { event: Event; isNow: boolean; canUndo: boolean }[] {
  const last = events.at(-1);
  return events
    .map((event, index) => ({
      event,
      isNow: event === last && event.type === "DocumentAdded",
      // The last step alone is taken back: a deletion, or a new text in place of an older one.
      canUndo: event === last && index > 0 && (event.type === "DocumentDeleted" || events[index - 1]?.type === "DocumentAdded"),
    }))
    .reverse();
}
