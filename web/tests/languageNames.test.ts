import { expect, test } from "vitest";
import { languageName } from "../src/pages/documents/languageNames";

test("languages of passages are named in the language of the page", () => {
  expect(languageName("german", "en")).toBe("German");
  expect(languageName("german", "zh")).toBe("德语");
  expect(languageName("norwegian", "en")).toBe("Norwegian");
  expect(languageName("korean", "zh")).toBe("韩语");
  expect(languageName("hindi", "en")).toBe("Hindi");
});

test("a language without a code has the name that the server tells", () => {
  expect(languageName("klingon", "zh")).toBe("klingon");
});
