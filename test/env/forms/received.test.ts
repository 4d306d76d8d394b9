import assert from "node:assert/strict";
import { test } from "node:test";
import type { Control } from "../../../src/env/browser/controls.js";
import type { PostedPair } from "../../../src/env/forms/posted.js";
import { carriedOf, receivedValues } from "../../../src/env/forms/received.js";
import type { ControlKind, FieldValue } from "../../../src/env/site.js";

const valuesOf = (controls: readonly Control[], posted: readonly PostedPair[]): readonly FieldValue[] =>
  receivedValues(controls, posted).values;

const control = (kind: ControlKind, name: string, texts: readonly string[] = [], id = ""): Control => ({
  index: 0,
  kind,
  widget: "native",
  label: "",
  section: "",
  also: [],
  form: 0,
  present: true,
  name,
  id,
  required: false,
  default: "",
  options: texts.map((text) => ({ text, value: text[0]?.toLowerCase() ?? "" })),
});

test("what was not posted is empty, in the shape of its control", () => {
  const controls = (["text", "select", "radio", "checkbox", "checkbox-group", "file"] as const).map((kind) =>
    control(kind, kind, ["Red", "Green"]),
  );
  assert.deepEqual(valuesOf(controls, []), ["", "", "", false, [], ""]);
});

test("options are told by their text, others by what was posted", () => {
  const texts = ["Red", "Green"];
  const controls = [
    control("select", "s", texts),
    control("radio", "r", texts),
    control("checkbox-group", "g", texts),
    control("select", "empty", ["", "Green"]),
    control("select", "other", texts),
  ];
  const posted = [
    ["g", "g"],
    ["s", "g"],
    ["r", "r"],
    ["g", ""],
    ["g", "blue"],
    ["empty", ""],
    ["other", "x"],
    // the first one counts
    ["s", "r"],
  ] as const;
  assert.deepEqual(valuesOf(controls, posted), ["Green", "Red", ["Green", "blue"], "", "x"]);
});

test("a box is ticked by any value but one that says no", () => {
  for (const [values, ticked] of [
    [["on"], true],
    [["newsletter"], true],
    [["false"], false],
    [["0"], false],
    [[""], false],
    // a hidden field stands in front of the box
    [["0", "1"], true],
  ] as const) {
    const posted = values.map((value) => ["c", value] as const);
    assert.deepEqual(valuesOf([control("checkbox", "c")], posted), [ticked], values.join());
  }
});

test("text controls of one name take its values in page order", () => {
  const controls = [
    control("text", "line"),
    control("text", "other"),
    control("text", "line"),
    control("text", "line"),
  ];
  const posted = [
    ["line", "1"],
    ["other", "x"],
    ["line", "2"],
  ] as const;
  assert.deepEqual(valuesOf(controls, posted), ["1", "x", "2", ""]);
});

test("a control is posted by its name, by its id where nothing has its name, and by either without []", () => {
  const value = (name: string, id: string, key: string): unknown =>
    valuesOf([control("text", name, [], id)], [[key, "v"]])[0];
  assert.equal(value("a", "b", "a"), "v");
  assert.equal(value("a", "b", "b"), "v");
  assert.equal(value("a", "", "b"), "");
  assert.equal(value("", "b", "b"), "v");
  assert.equal(value("a[]", "", "a"), "v");
  assert.equal(value("a[]", "", "a[]"), "v");
  assert.equal(value("a[]b", "", "ab"), "");
  // by name before by id
  const posted = [
    ["b", "id"],
    ["a", "name"],
  ] as const;
  assert.deepEqual(valuesOf([control("text", "a", [], "b")], posted), ["name"]);
});

const plain = (kind: ControlKind, label: string, more: Partial<Control> = {}): Control => ({
  ...control(kind, ""),
  label,
  ...more,
});

test("without names values are found by what the controls held, each once, the likest key first", () => {
  const controls = [
    plain("text", "First name"),
    plain("text", "Home town"),
    plain("number", "Age"),
    plain("checkbox", "News"),
  ];
  const posted = [
    ["user.homeTown", "Ann"],
    ["user.firstName", "Ann"],
    ["user.years", "41"],
    ["news", "true"],
    ["terms", "true"],
  ] as const;
  const held = { values: ["Ann", "Ann", "41", true] };
  const { values, notes } = receivedValues(controls, posted, held);
  assert.deepEqual(values, ["Ann", "Ann", "41", true]);
  assert.deepEqual(notes, []);
  assert.deepEqual(carriedOf(controls, posted, held), { carried: 3, of: 3 });
  assert.deepEqual(receivedValues(controls, posted.slice(3), held).values, ["", "", "", true]);
});

test("a bare yes that several values may be is credited with a note, and a key map decides", () => {
  const controls = [plain("checkbox", "Newsletter")];
  const posted = [
    ["a", "true"],
    ["b", "true"],
  ] as const;
  const { values, notes } = receivedValues(controls, posted, { values: [true] });
  assert.deepEqual(values, [true]);
  assert.match(notes.join(), /^ambiguous: .*Newsletter/);
  const mapped = receivedValues(controls, posted, { values: [true] }, { Newsletter: "b" });
  assert.deepEqual([mapped.values, mapped.notes], [[true], []]);
});

test("a value is told in any notation: dates, times, numbers, telephone numbers, options, lists by their keys", () => {
  const options = [
    { text: "Dark red", value: "dr" },
    { text: "Blue", value: "b" },
  ];
  for (const [c, held, posted] of [
    [plain("date", "Born"), "1990-03-05", [["x", "1990-03-05T00:00:00.000Z"]]],
    [plain("date", "Born"), "1990-03-05", [["x", "05.03.1990"]]],
    [
      plain("date", "Born"),
      "1990-03-05",
      [
        ["y.day", "5"],
        ["y.month", "3"],
        ["y.year", "1990"],
      ],
    ],
    [plain("time", "At"), "14:30", [["x", "2:30 pm"]]],
    [plain("number", "Sum"), "1,234", [["x", "1234"]]],
    [plain("tel", "Phone"), "(555) 010-7788", [["x", "5550107788"]]],
    [plain("select", "Colour", { options }), "Dark red", [["x", "dr"]]],
    [
      plain("checkbox-group", "Colours", { options }),
      ["Blue"],
      [
        ["darkRed", "false"],
        ["blue", "true"],
      ],
    ],
    [
      plain("checkbox-group", "Colours", { options }),
      ["Dark red", "Blue"],
      [
        ["x", "dr"],
        ["x", "b"],
      ],
    ],
  ] as const)
    assert.deepEqual(
      receivedValues([c], posted, { values: [held as FieldValue] }).values,
      [held],
      JSON.stringify(posted),
    );
});

test("what a mask made of a text counts as the text that was typed; what was not sent is empty", () => {
  const phone = plain("text", "Plate");
  const held = { values: ["ABC-123"], typed: new Map([[0, "abc123"]]) };
  assert.deepEqual(receivedValues([phone], [["x", "ABC-123"]], held).values, ["abc123"]);
  assert.deepEqual(receivedValues([phone], [["x", "ABC123"]], held).values, ["abc123"]);
  assert.deepEqual(receivedValues([phone], [["x", "ABC-124"]], held).values, [""]);
  assert.deepEqual(receivedValues([phone], [["plate", "other"]], held).values, ["other"]);
});

test("a hidden field that changed with a control speaks for it, and a repeated entry is found by the first one", () => {
  const colour = plain("select", "Colour", { widget: "combobox" });
  const mirrors = new Map([[0, [["c_id", "17"]] as const]]);
  assert.deepEqual(receivedValues([colour], [["c_id", "17"]], { values: ["Green"], mirrors }).values, ["Green"]);
  assert.deepEqual(receivedValues([colour], [["c_id", "18"]], { values: ["Green"], mirrors }).values, [""]);
  const twice = [plain("password", "Password"), plain("password", "Confirm password")];
  assert.deepEqual(receivedValues(twice, [["password", "s3cret"]], { values: ["s3cret", "s3cret"] }).values, [
    "s3cret",
    "s3cret",
  ]);
});
