import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Control } from "../../../src/env/browser/controls.js";
import { matchColumns, valuesOf } from "../../../src/features/from-table/columns.js";
import { readRecords } from "../../../src/features/from-table/records.js";
import { temporaryFolder } from "../../support/temporary.js";

const control = (kind: Control["kind"], label: string, name: string, options: string[] = []): Control => ({
  ...{ index: 0, widget: "native", kind, label, name, default: "", required: false, present: true },
  options: options.map((text) => ({ text, value: text.slice(0, 2).toUpperCase() })),
});
const CONTROLS = [
  control("text", "Policy number *", "p"),
  control("date", "Date of damage", "day"),
  control("select", "Kind of Damage", "k", ["Fire", "Water"]),
  control("checkbox", "Police Informed", "police"),
  control("checkbox-group", "Rooms", "r", ["Kitchen", "Bath"]),
  control("text", "Phone", "tel"),
].map((one, index) => ({ ...one, index }));
const COLUMNS = ["rooms", "day", "kind", "policyNo", "Police", "damage", "id"];

const columnsBy = (map: Readonly<Record<string, string>>): ReturnType<typeof matchColumns> =>
  matchColumns(COLUMNS, CONTROLS, new Map(Object.entries(map)));
const matched = (map: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries([...columnsBy(map)].map(([name, { label }]) => [name, label]));

test("columns are matched by label, by the control's name, or by words of one field alone; the rest is left out", () => {
  // kind and damage could both be the kind of damage
  assert.deepEqual(matched(), { rooms: "Rooms", day: "Date of damage", Police: "Police Informed" });
  assert.deepEqual(matched({ policyNo: "policy number", kind: "" }), {
    ...{ rooms: "Rooms", day: "Date of damage", Police: "Police Informed", policyNo: "Policy number *" },
    damage: "Kind of Damage",
  });
  assert.throws(() => matched({ nr: "Phone" }), /there is no column nr/);
  assert.throws(() => matched({ id: "Policy" }), { hint: /Policy number \*, .*did you mean Policy number \*\?/ });
});

test("a column's shortened words are those of one field alone", () => {
  const controls = [control("number", "Maximum cost (EUR)", "m"), control("text", "Maximum weight", "w")].map(
    (one, index) => ({ ...one, index }),
  );
  const labels = (...columns: string[]) =>
    [...matchColumns(columns, controls, new Map())].map(([name, { label }]) => [name, label]);
  assert.deepEqual(labels("max_cost"), [["max_cost", "Maximum cost (EUR)"]]);
  assert.deepEqual(labels("max"), []);
});

test("cells become what the fields can hold, empty ones nothing; what none can hold is named", () => {
  const columns = columnsBy({ policyNo: "Policy number", damage: "" });
  const values = (cells: object) => valuesOf({ place: "row 1", cells: { ...cells } }, columns);
  const cells = { policyNo: "0071", day: "2024-03-05 00:00:00", kind: "FI", Police: "f", rooms: '{"KI",Bath}', id: 4 };
  assert.deepEqual(values(cells), {
    fields: {
      ...{ "Policy number": "0071", "Date of damage": "2024-03-05", "Kind of Damage": "Fire" },
      ...{ "Police Informed": false, Rooms: ["Kitchen", "Bath"] },
    },
    problems: [],
  });
  assert.deepEqual(values({ policyNo: 71, day: null, kind: "", Police: "NULL", rooms: [] }), {
    fields: { "Policy number": "71", Rooms: [] },
    problems: [],
  });
  assert.deepEqual(values({ kind: "Theft", day: "soon", policyNo: { a: 1 } }).problems, [
    'policyNo: {"a":1} is no text of Policy number *',
    'day: "soon" is not a date of Date of damage',
    'kind: "Theft" is not an option of Kind of Damage: Fire, Water',
  ]);
});

const dir = temporaryFolder("records");
const read = (name: string, content: string): ReturnType<typeof readRecords> => {
  writeFileSync(join(dir, name), content);
  return readRecords(join(dir, name));
};

test("CSV keeps cells as they are written, whatever parts them", () => {
  const expected = [
    { place: "row 1", cells: { "policy no": "0071", mail: 'Hello,\nmy "policy"' } },
    { place: "row 2", cells: { "policy no": "1.50", mail: "" } },
  ];
  for (const mark of [",", ";", "\t"])
    assert.deepEqual(
      read("a.csv", `\uFEFFpolicy no ${mark}mail\r\n0071${mark}"Hello,\nmy ""policy"""\r\n\r\n1.50${mark}\r\n`),
      expected,
    );
});

test("JSON comes by lines, as an array, or as the one list of an export", () => {
  const rows = [{ a: "1" }, { a: null, b: ["x", "y"] }];
  const cells = (content: string): unknown => read("a.json", content).map((record) => record.cells);
  assert.deepEqual(cells(rows.map((row) => JSON.stringify(row)).join("\n")), rows);
  assert.deepEqual(cells(JSON.stringify(rows, null, 2)), rows);
  assert.deepEqual(cells(JSON.stringify({ table: "claims", rows })), rows);
});

test("what is no table is refused by its place", () => {
  assert.throws(() => read("a.csv", "a,b\n1,2,3\n"), /not read as CSV:\n {2}row 1: Too many fields/);
  assert.throws(() => read("a.csv", "a,a\n1,2\n"), /two columns are named a/);
  assert.throws(() => read("a.csv", 'a,b\n1,"2\n'), /row 1: Quoted field unterminated/);
  assert.throws(() => read("a.json", "[1, 2]"), /record 1: expected names and values/);
  assert.throws(() => read("a.json", '{"a": 1}\n{'), /line 2: not JSON/);
  assert.throws(() => read("a.json", '[\n{"a": 1.10}]'), /line 2: 1\.10 would be read as 1\.1/);
  assert.throws(() => read("a.csv", "a,b\n"), /holds no records/);
});
