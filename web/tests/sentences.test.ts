import { expect, test } from "vitest";
import { citedOffset, citedParts, fromAddress, pageAt, sentencesOf, toAddress } from "../src/pages/ask/sentences";

const PASSAGE = "# The Harbour Office\n\nDr. Ada Marsh leads the\nHarbour Office. Ben Holt keeps its lighthouse.\n\n| ship | tons |\n| --- | --- |\n| Elm | 12 |\n| Oak | 90 |\n";
const said = (claim: string, passages = [PASSAGE]) =>
  citedParts(claim, passages).map((parts, index) => parts.map(({ start, end }) => passages[index]?.slice(start, end)));

test("a wrapped line ends no sentence, a row and a heading do", () => {
  expect(sentencesOf(PASSAGE).map(({ start, end }) => PASSAGE.slice(start, end))).toEqual([
    "# The Harbour Office",
    "Dr. Ada Marsh leads the\nHarbour Office.",
    "Ben Holt keeps its lighthouse.",
    "| ship | tons |",
    "| Elm | 12 |",
    "| Oak | 90 |",
  ]);
});

test("the sentence that a claim comes nearest to is its own", () => {
  expect(said("The lighthouse is kept by Ben Holt")).toEqual([["Ben Holt keeps its lighthouse."]]);
  expect(said("The Oak has 90 tons")).toEqual([["| Oak | 90 |"]]);
});

test("all of a quotation is cited, and of several passages the one that has it", () => {
  expect(said("Dr. Ada Marsh leads the Harbour Office. Ben Holt keeps its lighthouse.", ["Nothing of it.", PASSAGE])).toEqual([
    [],
    ["Dr. Ada Marsh leads the\nHarbour Office.", "Ben Holt keeps its lighthouse."],
  ]);
});

test("what no sentence says marks nothing", () => {
  expect(said("The documents say so")).toEqual([[]]);
  expect(said("")).toEqual([[]]);
});

test("Chinese is compared by its words", () => {
  expect(said("船有九十吨", ["港口很小。橡树号有九十吨。"])).toEqual([["橡树号有九十吨。"]]);
});

test("parts go through an address", () => {
  expect(fromAddress(toAddress([{ start: 12, end: 80 }, { start: 90, end: 120 }]))).toEqual([{ start: 12, end: 80 }, { start: 90, end: 120 }]);
  expect(fromAddress("nonsense")).toEqual([]);
});

test("a quotation stands on its own page, not on that of its passage", () => {
  const passage = "𝕬 first page. The sluice closes at noon.";
  const [ranges = []] = citedParts("The sluice closes at noon", [passage]);
  const offset = citedOffset(passage, ranges);
  expect(offset).toBe(14);
  expect(pageAt({ page: 3, page_breaks: [14] }, offset)).toBe(4);
  expect(pageAt({ page: 3, page_breaks: [15] }, offset)).toBe(3);
  expect(pageAt({ page: 3 }, offset)).toBe(3);
  expect(pageAt({ page: null }, offset)).toBeNull();
});
