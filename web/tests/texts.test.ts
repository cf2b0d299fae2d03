import { expect, test } from "vitest";
import { en } from "../src/texts/en";
import { zh } from "../src/texts/zh";

function places(texts: object, above = ""): string[] {
  return Object.entries(texts).flatMap(([name, value]) =>
    value !== null && typeof value === "object" ? places(value as object, `${above}${name}.`) : [`${above}${name}`],
  );
}

test("both languages say the same things", () => {
  // The compiler compares the rest; records by name of a status it does not.
  expect(places(zh)).toEqual(places(en));
});

test("no text was left in English", () => {
  const latin = /^[A-Za-z ,.’]+$/;
  const words = places(zh).filter((place) => {
    const value = place.split(".").reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], zh);
    return typeof value === "string" && latin.test(value);
  });
  expect(words).toEqual([]);
});
