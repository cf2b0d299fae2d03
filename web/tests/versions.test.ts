import { expect, test } from "vitest";
import { versionsOf } from "../src/pages/document/versions";

const event = (sequence: number, type: string) => ({ sequence, type }) as never;
const told = (...types: string[]) =>
  versionsOf(types.map((type, index) => event(index + 1, type))).map(({ event, isNow, canUndo }) => [event.sequence, isNow, canUndo]);

test("the last step alone is taken back, and the first text is not", () => {
  expect(told("DocumentAdded")).toEqual([[1, true, false]]);
  expect(told("DocumentAdded", "DocumentAdded")).toEqual([
    [2, true, true],
    [1, false, false],
  ]);
  expect(told("DocumentAdded", "DocumentDeleted")).toEqual([
    [2, false, true],
    [1, false, false],
  ]);
  expect(told("DocumentAdded", "DocumentDeleted", "DocumentAdded")[0]).toEqual([3, true, false]);
});
