import { expect, test } from "vitest";
import type { LogEvent } from "../src/api/live";
import { byDay, newTexts } from "../src/pages/log/dayGroups";

const event = (sequence: number, type: string, document = "doc-1", day = 1) =>
  ({ sequence, type, document, time: new Date(2026, 2, day, 12).toISOString(), text: "" }) as LogEvent;

test("events stand under their days, both the newest first", () => {
  const days = byDay([event(1, "DocumentAdded"), event(3, "GraphEdited", "_graph", 2), event(2, "DocumentDeleted")]);
  expect(days.map(({ start, events }) => [new Date(start).getDate(), events.map(({ sequence }) => sequence)])).toEqual([
    [2, [3]],
    [1, [2, 1]],
  ]);
});

test("an addition is a new text where the document is there, and none behind its deletion", () => {
  const events = [event(1, "DocumentAdded"), event(2, "DocumentAdded"), event(3, "DocumentDeleted"), event(4, "DocumentAdded"), event(5, "DocumentAdded", "doc-2")];
  expect([...newTexts(events)]).toEqual([2]);
});
