import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  findOption,
  matchValue,
  normalizeLabel,
  parseBoolean,
  parseDate,
  parseNumber,
  parseTime,
  similarity,
} from "../../src/env/normalize.js";

test("dates in common notations", () => {
  for (const text of [
    "2024-03-05",
    "2024/3/5",
    "2024.03.05",
    "03/05/2024",
    "5.3.2024",
    "March 5, 2024",
    "Mar 5 2024",
    "5 March 2024",
    "5th of March 2024",
    "2024-03-05T00:00:00Z",
  ]) {
    assert.equal(parseDate(text), "2024-03-05", text);
  }
  assert.equal(parseDate("25/12/2024"), "2024-12-25", "no 25th month: day first");
  for (const text of ["", "tomorrow", "2024-02-30", "13/13/2024", "Foo 5, 2024"])
    assert.equal(parseDate(text), undefined, text);
});

test("times, numbers and booleans", () => {
  assert.deepEqual(["15:30", "3:30 PM", "3pm", "12:05 am", "9:00"].map(parseTime), [
    "15:30",
    "15:30",
    "15:00",
    "00:05",
    "09:00",
  ]);
  assert.deepEqual(["25:00", "7", "13 pm", "x"].map(parseTime), [undefined, undefined, undefined, undefined]);
  assert.deepEqual(["1,200", "$1,200.50", "-3", ".5", "12%", 7].map(parseNumber), [1200, 1200.5, -3, 0.5, 12, 7]);
  assert.deepEqual(["1,2,3", "", "seven", "0x10", "1e999"].map(parseNumber), [
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  assert.deepEqual(["Yes", "on", true, "no", "", "maybe"].map(parseBoolean), [
    true,
    true,
    true,
    false,
    false,
    undefined,
  ]);
});

test("text is compared with case, without the width of spaces, by edit distance", () => {
  assert.equal(similarity(" Ann \n Lee", "Ann Lee"), 1);
  assert.equal(similarity("e\u0301", "\u00e9"), 1);
  assert.equal(similarity("abcd", "abcD"), 0.75);
  assert.equal(similarity("", "abc"), 0);
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) => {
      const value = similarity(a, b);
      assert.ok(value >= 0 && value <= 1);
      assert.equal(value, similarity(b, a));
      assert.equal(similarity(a, a), 1);
    }),
    { seed: 1 },
  );
});

test("labels are compared without stars, colons and case", () => {
  for (const label of ["Full Name", "full  name *", "Full name:", "Full name *:", "Full name (required)"])
    assert.equal(normalizeLabel(label), "full name");
});

test("options are found by text, then value, then without case", () => {
  const options = [
    { text: "Choose one", value: "" },
    { text: "Oil paint", value: "oil" },
    { text: "OIL", value: "x" },
  ];
  assert.deepEqual(
    ["Oil paint", "oil", "OIL", "oil PAINT", "water", ""].map((w) => findOption(options, w)),
    [1, 1, 2, 1, undefined, undefined],
  );
});

test("each kind is compared in its own way", () => {
  const options = [
    { text: "Red", value: "r" },
    { text: "Green", value: "g" },
    { text: "Blue", value: "b" },
  ];
  assert.equal(matchValue({ kind: "date" }, "2024/03/05", "2024-03-05"), 1);
  assert.equal(matchValue({ kind: "date" }, "2024-03-05", "2024-03-06"), 0);
  assert.equal(matchValue({ kind: "number" }, 1200, "1200.0"), 1);
  assert.equal(matchValue({ kind: "number" }, 1200, ""), 0);
  assert.equal(matchValue({ kind: "select", options }, "Red", "r"), 1);
  assert.equal(matchValue({ kind: "radio", options }, "Red", "Blue"), 0);
  assert.equal(matchValue({ kind: "checkbox" }, "Yes", true), 1);
  assert.equal(matchValue({ kind: "checkbox" }, false, true), 0);
  assert.equal(matchValue({ kind: "checkbox-group", options }, ["Red", "Blue"], ["b", "Green"]), 1 / 3);
  assert.equal(matchValue({ kind: "checkbox-group", options }, "Blue, Red", ["Red", "Blue"]), 1);
  assert.equal(matchValue({ kind: "checkbox-group", options }, [], []), 1);
  assert.equal(matchValue({ kind: "file" }, "None", ""), 1);
  assert.equal(matchValue({ kind: "file" }, "cv.pdf", "other.txt"), 1);
  assert.equal(matchValue({ kind: "file" }, "cv.pdf", ""), 0);
  assert.equal(matchValue({ kind: "email" }, "a@b.c", "a@b.d"), 0.8);
});
