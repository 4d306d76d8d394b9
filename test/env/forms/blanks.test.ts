import assert from "node:assert/strict";
import { test } from "node:test";
import { type Blank, fillTemplate, type Template } from "../../../src/core/interaction.js";
import type { Control } from "../../../src/env/browser/controls.js";
import {
  blankActions,
  blankParts,
  controlsOnPage,
  formTemplate,
  type TemplateControl,
  trueValues,
} from "../../../src/env/forms/blanks.js";
import { renderPlan } from "../../../src/env/forms/plan.js";

const CONTROLS: TemplateControl[] = [
  { label: "Name", kind: "text", default: "", longest: 40 },
  { label: "Day", kind: "select", default: "Monday", options: ["Monday", "Friday"] },
  { label: "Extras", kind: "checkbox-group", default: ["Tea"], options: ["Tea", "Cake", "Jam"] },
  { label: "Card", kind: "checkbox", default: false },
  { label: "Name", kind: "text", default: "" },
];

const plan = (values: Record<string, string>): string[] => renderPlan(blankActions(CONTROLS, values)).split("\n");
const blanksOf = ({ parts }: Template): Blank[] => parts.filter((part) => typeof part !== "string");

test("a form is a line with a blank for each control, whose names are unique", () => {
  const template = formTemplate(CONTROLS);
  const names = blanksOf(template).map(({ name }) => name);
  assert.deepEqual(names, ["Name", "Day", "Extras", "Card", "Name (2)"]);
  assert.equal(
    fillTemplate(template, { Name: "Ann", Card: "yes" }).text,
    "fill Name | Ann\nselect Day | \nselect Extras | \ncheck Card | yes\nfill Name | ",
  );
  const actual = blanksOf(template).map(({ kind, options, longest }) => [kind, options ?? null, longest ?? null]);
  assert.deepEqual(actual, [
    ["text", null, 40],
    ["choice", ["Monday", "Friday"], null],
    ["list", ["Tea", "Cake", "Jam"], null],
    ["flag", ["yes", "no"], null],
    ["text", null, null],
  ]);
});

test("values become actions by their blank; what is there already or empty asks for nothing", () => {
  assert.deepEqual(plan({ Name: " Ann\n", Day: "monday", Extras: "Tea", Card: "no" }), ["fill Name | Ann", "submit"]);
  assert.deepEqual(plan({ Day: "Friday", Card: "yes" }), ["select Day | Friday", "check Card", "submit"]);
  assert.deepEqual(plan({ Extras: "Jam" }), ["uncheck Extras", "select Extras | Jam", "submit"]);
  assert.deepEqual(plan({ Extras: "none" }), ["uncheck Extras", "submit"]);
  // an answer that does not fit a box becomes an action that fails at the control
  assert.deepEqual(plan({ Card: "maybe" }), ["select Card | maybe", "submit"]);
  // a value that looks like a plan line stays a value
  const [action] = blankActions(CONTROLS, { Name: "x\nsubmit" });
  assert.deepEqual(action, { kind: "fill", label: "Name", value: "x\nsubmit" });
  assert.deepEqual(plan({ toString: "x" }), ["submit"]);
});

test("the controls of a page are called as any task of its form calls them; what it does not show yet comes last", () => {
  const control = (index: number, label: string, more: Partial<Control> = {}): Control => {
    const plain = { kind: "text", widget: "native", name: "", required: false, default: "", present: true } as const;
    return { index, label, ...plain, options: [], ...more };
  };
  const options = [
    { text: "Choose", value: "" },
    { text: "Friday", value: "fri" },
  ];
  const page = [
    control(0, "Full name *"),
    control(1, "Day", { kind: "select", options }),
    control(3, "Hidden", { present: false }),
    control(4, "Ref"),
  ];
  const tasks = [{ fields: { "full name": "Ada" } }, { fields: { Company: "Acme", Trip: true } }];
  const actual = controlsOnPage(page, tasks).map(({ label, kind, options: texts }) => [label, kind, texts ?? []]);
  assert.deepEqual(actual, [
    ["full name", "text", []],
    ["Day", "select", ["Friday"]],
    ["Ref", "text", []],
    ["Company", "text", []],
    ["Trip", "checkbox", []],
  ]);
  const labels = controlsOnPage(page, []).map(({ label }) => label);
  assert.deepEqual(labels, ["Full name", "Day", "Ref"]);
});

test("an attempt is a blank, its end included", () => {
  const values = { Name: "Ann", Day: "", Extras: "", Card: "yes", "Name (2)": "Bo" };
  const { text } = fillTemplate(formTemplate(CONTROLS), values);
  const parts = blankParts(CONTROLS, values, { Name: 1, Card: 0.5 });
  const actual = parts.map(({ name, start, end, reward }) => [name, text.slice(start, end - 1), reward]);
  assert.deepEqual(actual, [
    ["Name", "Ann", 1],
    ["Card", "yes", 0.5],
    ["Name", "Bo", 1],
  ]);
});

test("true values are written as plans have them", () => {
  const values = { Name: "Ann", Day: "", Extras: "none", Card: "yes", "Name (2)": "Ann" };
  assert.deepEqual(trueValues(CONTROLS, { Name: "Ann", Extras: [], Card: true }), values);
  assert.equal(trueValues(CONTROLS, { Card: "TRUE" }).Card, "yes", "one spelling for a box");
  assert.equal(trueValues(CONTROLS, {}).Card, "no", "a box that no task names stays as the page has it");
  // a required box that is not named cannot be right unticked: it has no value; another field may be out of place
  const required = CONTROLS.slice(2, 5).map((control) => ({ ...control, required: true }));
  assert.deepEqual(trueValues(required, {}), { Extras: "", Name: "" });
});
