import assert from "node:assert/strict";
import { test } from "node:test";
import type { Control } from "../../../src/env/browser/controls.js";
import { matchColumns, valuesOf } from "../../../src/features/from-table/columns.js";

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
