import assert from "node:assert/strict";
import { test } from "node:test";
import type { Control } from "../../../src/env/browser/controls.js";
import { postedValues, readPosted } from "../../../src/env/forms/posted.js";
import type { ControlKind } from "../../../src/env/site.js";

const read = (text: string, type: string): Promise<readonly (readonly [string, string])[]> =>
  readPosted(Buffer.from(text), type);

test("a body is read as what it says it is, in the order it was sent", async () => {
  assert.deepEqual(await read("b=1+2&a=%C3%A9&b=", "application/x-www-form-urlencoded; charset=UTF-8"), [
    ["b", "1 2"],
    ["a", "é"],
    ["b", ""],
  ]);
  const multipart = [
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1=2&3\r\n',
    '--x\r\nContent-Disposition: form-data; name="f"; filename="cv.pdf"\r\nContent-Type: text/plain\r\n\r\nhello\r\n',
    "--x--\r\n",
  ].join("");
  // a file is its name
  assert.deepEqual(await read(multipart, "multipart/form-data; boundary=x"), [
    ["a", "1=2&3"],
    ["f", "cv.pdf"],
  ]);
  assert.deepEqual(await read(multipart, "multipart/form-data"), [], "no boundary");
});

test("JSON is read by its leaves, a list repeats its key", async () => {
  const pairs = [
    ["name", "Ann"],
    ["days", "Mon"],
    ["days", "Tue"],
    ["zip", "0"],
    ["news", "false"],
    ["note", ""],
  ];
  const body = JSON.stringify({ form: { name: "Ann", days: ["Mon", "Tue"] }, zip: 0, news: false, note: null });
  assert.deepEqual(await read(body, "application/JSON"), pairs);
  // a script may post JSON without saying so
  assert.deepEqual(await read(body, "text/plain"), pairs);
  assert.deepEqual(await read(body, ""), pairs);
  for (const broken of ['{"a":', '"a"', "7", "[1,2]", "null"]) assert.deepEqual(await read(broken, "text/plain"), []);
  assert.deepEqual(await read('[{"a":1},{"a":2}]', "application/json"), [
    ["a", "1"],
    ["a", "2"],
  ]);
});

test("JSON is read eight objects deep", async () => {
  const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  assert.deepEqual(await read(nested(8), "application/json"), [["a", "1"]]);
  assert.deepEqual(await read(nested(9), "application/json"), []);
});

test("no body and one beyond 16 MB are no pairs; names are cut as values are", async () => {
  const type = "application/x-www-form-urlencoded";
  assert.deepEqual(await readPosted(null, type), []);
  assert.deepEqual(await read("", type), []);
  assert.equal((await read(`a=${"x".repeat(15_999_998)}`, type)).length, 1);
  assert.equal((await read(`a=${"x".repeat(15_999_999)}`, type)).length, 0);
  assert.equal((await read(`${"n".repeat(9000)}=1`, type))[0]?.[0].length, 8192);
});

const control = (kind: ControlKind, name: string, texts: readonly string[] = [], id = ""): Control => ({
  index: 0,
  kind,
  label: "",
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
  assert.deepEqual(postedValues(controls, []), ["", "", "", false, [], ""]);
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
  assert.deepEqual(postedValues(controls, posted), ["Green", "Red", ["Green", "blue"], "", "x"]);
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
    assert.deepEqual(postedValues([control("checkbox", "c")], posted), [ticked], values.join());
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
  assert.deepEqual(postedValues(controls, posted), ["1", "x", "2", ""]);
});

test("a control is posted by its name, by its id where nothing has its name, and by either without []", () => {
  const value = (name: string, id: string, key: string): unknown =>
    postedValues([control("text", name, [], id)], [[key, "v"]])[0];
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
  assert.deepEqual(postedValues([control("text", "a", [], "b")], posted), ["name"]);
});
