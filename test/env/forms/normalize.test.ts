import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  findOption,
  isNamed,
  isNoFile,
  listItems,
  looseLabel,
  matchValue,
  normalizeLabel,
  parseBoolean,
  parseDate,
  parseNumber,
  parseTime,
  similarity,
  unfillable,
} from "../../../src/env/forms/normalize.js";
import { readDay } from "../../../src/env/forms/values.js";
import type { ControlKind, FieldValue } from "../../../src/env/site.js";

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

const optionsOf = (given: Readonly<Record<string, string>>) =>
  Object.entries(given).map(([text, value]) => ({ text, value }));

test("options are found by text, then value, then without case", () => {
  const options = optionsOf({ "Choose one": "", "Oil paint": "oil", OIL: "x" });
  const actual = ["Oil paint", "oil", "OIL", "oil PAINT", "water", ""].map((w) => findOption(options, w));
  assert.deepEqual(actual, [1, 1, 2, 1, undefined, undefined]);
});

test("each kind is compared in its own way, a value outside its type as exact text", () => {
  const options = optionsOf({ Red: "r", Green: "g", Blue: "b" });
  const group = { kind: "checkbox-group", options } as const;
  for (const [space, truth, actual, score] of [
    [{ kind: "date" }, "2024/03/05", "2024-03-05", 1],
    [{ kind: "date" }, "2024-03-05", "2024-03-06", 0],
    [{ kind: "number" }, 1200, "1200.0", 1],
    [{ kind: "number" }, 1200, "", 0],
    [{ kind: "select", options }, "Red", "r", 1],
    [{ kind: "radio", options }, "Red", "Blue", 0],
    [{ kind: "checkbox" }, "Yes", true, 1],
    [{ kind: "checkbox" }, false, true, 0],
    [group, ["Red", "Blue"], ["b", "Green"], 1 / 3],
    [group, "Blue, Red", ["Red", "Blue"], 1],
    [group, [], [], 1],
    [{ kind: "file" }, "None", "", 1],
    [{ kind: "file" }, "cv.pdf", "other.txt", 0],
    [{ kind: "file" }, "cv.pdf", "", 0],
    // a nearly right address counts as wrong; free text gets partial credit
    [{ kind: "email" }, "a@b.c", "a@b.d", 0],
    [{ kind: "tel" }, "+1 555 01", "(1) 555-01", 1],
    [{ kind: "url" }, "example.org", "https://example.org/", 1],
    [{ kind: "text" }, "AB-12", "AB-13", 0],
    [{ kind: "text" }, "green tea", "green tee", 8 / 9],
    // a value outside its type is compared as exact text
    [{ kind: "date" }, "soon", " soon ", 1],
    [{ kind: "date" }, "soon", "later", 0],
    [{ kind: "date" }, "2024-03-05", "soon", 0],
    [{ kind: "time" }, "noon", "noon", 1],
    [{ kind: "time" }, "3 pm", "15:00", 1],
    [{ kind: "number" }, "", "", 1],
    [{ kind: "select", options }, "", "", 1],
    [{ kind: "select", options }, "Red", "", 0],
    [{ kind: "radio", options }, "Purple", "Purple", 1],
    [{ kind: "radio", options }, "Purple", "purple", 0],
    [{ kind: "select" }, "a", "a", 1],
    [{ kind: "checkbox" }, "perhaps", false, 0],
    [group, ["Purple", "Red"], ["Purple", "r"], 1],
    [group, ["Purple", "Red"], ["purple:", "r"], 1 / 3],
    [group, ["Purple"], ["Red"], 0],
    [group, [], ["Red"], 0],
    [{ kind: "checkbox-group" }, ["A"], ["a"], 0],
    [{ kind: "file" }, "none", "x.txt", 1],
    [{ kind: "text" }, ["a", "b"], "a, b", 1],
    [{ kind: "text" }, 5, "5", 1],
  ] as const)
    assert.equal(matchValue(space, truth as string, actual as string), score, JSON.stringify([space, truth, actual]));
});

test("a written day is read by its month's name in any case; another calendar or script is no day", () => {
  const days = ["April 3rd, 2026", "3. April 2026", "3 avril 2026", "3 kwietnia 2026", "3 апреля 2026", "3 Nisan 2026"];
  for (const text of days) assert.equal(readDay(text), "2026-04-03", text);
  for (const text of ["3 เมษายน 2569", "3. April 2569", "2026年4月3日"]) assert.equal(readDay(text), undefined, text);
});

test("digits, halves of the day, repetitions and lost letters are never nearly right", () => {
  const text = { kind: "text" } as const;
  for (const [truth, actual] of [
    ["NO93 8601 1117 947", "NO93 8601 1117 946"],
    ["1,000 EUR", "9,000 EUR"],
    ["9:15 PM", "9:15 AM"],
    ["AB 12 CDE", "AB 13 CDE"],
    ["M\u00fcller", "M\uFFFDller"],
    ["M\uFFFDller", "M\uFFFDller"],
  ] as const)
    assert.equal(matchValue(text, truth, actual), 0, `${truth} and ${actual}`);
  const long = "word ".repeat(3000);
  assert.ok(matchValue(text, `${long}and then the end of it`, `${long}or something else entirely`) < 1);
  const sizes = { kind: "checkbox-group", options: optionsOf({ M: "M", L: "L" }) } as const;
  assert.equal(matchValue(sizes, ["M", "M", "L"], ["M", "L"]), 2 / 3);
  assert.equal(matchValue(sizes, ["M", "L"], ["L", "M"]), 1);
});

test("dates: month and day by size where they may be exchanged, names of months in any length", () => {
  for (const [text, date] of [
    ...["2024-03-05", "2024/3/5", "2024.03.05", "03/05/2024", "5.3.2024"].map((text) => [text, "2024-03-05"] as const),
    ...["March 5, 2024", "Mar 5 2024", "5 March 2024", "5th of March 2024", "2024-03-05T00:00:00Z"].map(
      (text) => [text, "2024-03-05"] as const,
    ),
    ["25/12/2024", "2024-12-25"],
    ["12/11/2024", "2024-12-11"],
    ["13-12-2024", "2024-12-13"],
    ["11.12.2024", "2024-12-11"],
    ["Sept 5, 2024", "2024-09-05"],
    ["december 1st 2024", "2024-12-01"],
    ["2nd December, 2024", "2024-12-02"],
    ["3 jan. 2024", "2024-01-03"],
    ["2024-02-29", "2024-02-29"],
    ["  2024-1-2 ", "2024-01-02"],
    ["2024-01-02T23:30", "2024-01-02"],
  ] as const)
    assert.equal(parseDate(text), date, text);
  const impossible = ["2023-02-29", "2024-02-30", "2024-00-10", "2024-01-00", "31.4.2024", "13.13.2024", "12.25.2024"];
  for (const text of [...impossible, "", "tomorrow", "13/13/2024", "0 May 2024", "Foo 5, 2024"])
    assert.equal(parseDate(text), undefined, text);
});

test("times: noon, midnight and the ends of the clock", () => {
  const times = { "12 pm": "12:00", "12 AM": "00:00", "1 a.m.": "01:00", "11:59 p.m.": "23:59", "0:00": "00:00" };
  const others = { "15:30": "15:30", "3:30 PM": "15:30", "3pm": "15:00", "12:05 am": "00:05", "9:00": "09:00" };
  const odd = { "23:59:59": "23:59:59", "23:59:00": "23:59", " 9:05 ": "09:05", "3p": "15:00" };
  for (const [text, time] of Object.entries({ ...times, ...others, ...odd })) assert.equal(parseTime(text), time, text);
  for (const text of ["24:00", "25:00", "9:60", "0 am", "13:00 pm", "13 pm", "12", "7", "9:5", "", "x"])
    assert.equal(parseTime(text), undefined, text);
});

test("numbers: signs, signs of money, shares, exponents", () => {
  for (const [text, number] of [
    ["-$5", -5],
    ["\u20ac 3.50", 3.5],
    ["\u00a31,234,567.5", 1_234_567.5],
    ["12 %", 12],
    ["+5", 5],
    ["5.", 5],
    ["1e3", 1000],
    ["2.5E-1", 0.25],
    [" 7 ", 7],
    ["1,200", 1200],
    ["$1,200.50", 1200.5],
    ["-3", -3],
    [".5", 0.5],
    [7, 7],
  ] as const)
    assert.equal(parseNumber(text), number, String(text));
  for (const text of ["12,34", "1,2345", "1,2,3", "1.2.3", ".", "-", "5 apples", "%", "Infinity", "$", "seven", "0x10"])
    assert.equal(parseNumber(text), undefined, text);
  for (const none of ["", "1e999", Number.NaN, Number.POSITIVE_INFINITY, true])
    assert.equal(parseNumber(none), undefined, String(none));
});

test("yes and no in the words of forms and people", () => {
  for (const yes of ["Yes", "on", true]) assert.equal(parseBoolean(yes), true);
  for (const no of ["no", ""]) assert.equal(parseBoolean(no), false);
  assert.equal(parseBoolean("maybe"), undefined);
});

test("a label's second chance is its letters and digits", () => {
  assert.equal(looseLabel("E-mail (work), 2nd *:"), "emailwork2nd");
  assert.equal(normalizeLabel("Phone (optional) : *"), "phone");
  for (const label of ["Full Name", "full  name *", "Full name:", "Full name *:", "Full name (required)"])
    assert.equal(normalizeLabel(label), "full name");
  assert.equal(similarity("kitten", "sitting"), 1 - 3 / 7);
  assert.equal(similarity("", ""), 1);
});

test("options are found by value without case, by letters and digits, without a last remark", () => {
  const named = { "Choose one": "", "Small (S)": "size-s", "Extra-Large": "size-xl", Medium: "small" };
  const options = optionsOf(named);
  const found = (wanted: string | boolean): number | undefined => findOption(options, wanted);
  assert.deepEqual([found("SIZE-S"), found("size xl"), found("extra large"), found("Small")], [1, 2, 2, 3]);
  assert.equal(findOption(options.slice(0, 3), "small"), 1);
  // texts of marks alone are not taken for a placeholder
  assert.deepEqual([found("***"), found("(S)"), found(true)], [undefined, undefined, undefined]);
  assert.ok(isNamed({ text: "Extra-Large:", value: "" }, "extra-large"));
  assert.ok(!isNamed({ text: "Large", value: "extra-large" }, "extra-large"));
  const answers = optionsOf({ "": "", Yes: "1", No: "0" });
  assert.deepEqual([findOption(answers, true), findOption(answers, false)], [1, 2]);
});

test("lists: items, a text with commas that is one option, and none", () => {
  const options = optionsOf({ "Food, drinks": "fd", Music: "m" });
  const items = (value: Parameters<typeof listItems>[1]): string[] => listItems(options, value);
  assert.deepEqual(items("Food, drinks"), ["Food, drinks"]);
  assert.deepEqual(items("Music; Food,, Art "), ["Music", "Food", "Art"]);
  assert.deepEqual([items(["Music", "x, y"]), items(5)], [["Music", "x, y"], ["5"]]);
  for (const none of ["", "  ", "none", " None "]) assert.deepEqual(items(none), [], none);
  assert.deepEqual(items("none of it"), ["none of it"]);
});

test("what asks for no file", () => {
  for (const none of ["", " ", "none", " N/A", "NULL"]) assert.ok(isNoFile(none), none);
  for (const file of ["cv.pdf", "none.pdf", "n/a.txt", "0"]) assert.ok(!isNoFile(file), file);
});
type Held = Parameters<typeof unfillable>[0];
const control = (kind: ControlKind, preset: FieldValue = "", ...texts: readonly string[]): Held => ({
  kind,
  default: preset,
  options: texts.map((text, i) => ({ text, value: `v${i}` })),
});

test("a control can hold what its kind, its options or its default allow", () => {
  for (const [held, value] of [
    [control("text"), "any\ntext"],
    [control("file"), "None"],
    [control("file"), "cv.pdf"],
    [control("select", "", "Red", "1 - 10"), "v0"],
    [control("select", "", "Red", "1 - 10"), 7],
    [control("select", "", "Red"), ""],
    [control("radio", "", "Yes", "No"), true],
    [control("checkbox", false), "No"],
    [control("checkbox-group", [], "Mon", "Tue, or Wed"), ["Tue, or Wed", "Mon"]],
    [control("checkbox-group", [], "Mon", "Tue"), "Mon, Tue"],
    [control("number"), "$1,200"],
    [control("date"), "5 March 2024"],
    [control("time"), "5 PM"],
  ] as const)
    assert.equal(unfillable(held, value as FieldValue), undefined, `${held.kind} ${value}`);
  for (const [held, value, why] of [
    [control("select", "", "Red"), "Blue", "not an option"],
    [control("radio", "", "Small"), "Large", "not an option"],
    [control("checkbox-group", [], "Mon"), ["Mon", "Sun"], "not an option"],
    [control("checkbox", false), "perhaps", "neither yes nor no"],
    [control("number"), "a few", "not a number"],
    [control("date"), "next week", "not a date"],
    [control("time"), "noonish", "not a time"],
  ] as const)
    assert.equal(unfillable(held, value as FieldValue), why, `${held.kind} ${value}`);
});
