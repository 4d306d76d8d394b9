import assert from "node:assert/strict";
import { test } from "node:test";
import type { Blank } from "../../../src/core/interaction.js";
import { placeOf, quotesOf, quoting } from "../../../src/features/agent/quotes.js";

test("quotes are runs of a line's words, whole and without the marks around them", () => {
  assert.deepEqual(quotesOf('I am "Bo Lee".\nHi!'), [
    ...["I", "I am", 'I am "Bo', 'I am "Bo Lee', "am", 'am "Bo', 'am "Bo Lee', "Bo", "Bo Lee", "Lee", "Hi"],
  ]);
  const long = quotesOf(Array.from({ length: 40 }, (_, i) => `w${i}`).join(" "));
  assert.equal(Math.max(...long.map((quote) => quote.split(" ").length)), 12);
  assert.deepEqual(quotesOf(" -- \n\n ... "), []);
});

test("blanks of one line hold what fits their kind; choices, numbers and paragraphs are left as they are", () => {
  const blank = (kind: Blank["kind"], more: Partial<Blank> = {}): Blank => ({ name: kind, kind, ...more });
  const plain = (["email", "tel", "url", "number", "paragraph"] as const).map((kind) => blank(kind));
  const parts = ["a | ", ...plain, blank("choice", { options: ["x"] })];
  const quoted = quoting({ parts }, "Bo <bo@b.example>, 0151 22, see https://b.example.");
  assert.deepEqual(quoted.parts, [
    "a | ",
    blank("email", { options: ["bo@b.example"] }),
    blank("tel", { options: ["0151 22"] }),
    blank("url", { options: ["https://b.example"] }),
    ...parts.slice(4),
  ]);
  // where the text has nothing of the kind the blank is free
  assert.deepEqual(quoting({ parts: [blank("email")] }, "no address").parts, [blank("email")]);
});

test("a date is one of the text's, in any common notation, the beginning of a period and both readings of one with strokes", () => {
  const dates = (text: string): readonly string[] | undefined => {
    const [part] = quoting({ parts: [{ name: "d", kind: "date" }] }, text).parts;
    return (part as Blank).options;
  };
  for (const [text, ...found] of [
    ["born on the 4th of November 1983, now Thursday, 12 March 2026.", "1983-11-04", "2026-03-12"],
    ["from 18 to 25 July 2026", "2026-07-25", "2026-07-18"],
    ["28 July until the 3rd of August 2026", "2026-08-03", "2026-07-28"],
    ["due 3/4/2026, 2026-05-06 at the latest", "2026-03-04", "2026-04-03", "2026-05-06"],
  ] as const)
    assert.deepEqual(dates(text), found, text);
  assert.equal(dates("next Tuesday, (or the 30th [of]"), undefined);
});

test("words are found where they stand whole", () => {
  assert.deepEqual(placeOf("Ann", "Anna and Ann, Ann"), { start: 9, end: 12 });
  assert.deepEqual(placeOf("41,", "a 41, b"), { start: 2, end: 5 });
  assert.equal(placeOf("nn", "Ann"), undefined);
  assert.equal(placeOf("", "Ann"), undefined);
});
