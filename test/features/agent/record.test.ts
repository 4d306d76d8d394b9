import assert from "node:assert/strict";
import { test } from "node:test";
import type { Control } from "../../../src/env/browser/controls.js";
import type { Action } from "../../../src/env/forms/plan.js";
import { asRecorded } from "../../../src/features/agent/record.js";

function control(index: number, kind: Control["kind"], label: string, texts: readonly string[] = []): Control {
  const options = texts.map((text) => ({ text, value: text }));
  const preset = kind === "checkbox" ? false : kind === "checkbox-group" ? [] : "";
  return { index, kind, label, name: "", widget: "native", required: false, default: preset, options, present: true };
}

const CONTROLS = [
  control(0, "text", "First name"),
  control(1, "textarea", "About you"),
  control(2, "select", "Membership", ["Adult", "Junior"]),
  control(3, "checkbox-group", "Days", ["Monday", "Saturday"]),
  control(4, "checkbox", "I accept the rules"),
];

test("a value whose label the page has is put in as it is, whatever the model wrote there", () => {
  const written: Action[] = [{ kind: "fill", label: "About you", value: "two years on the spree" }];
  assert.deepEqual(asRecorded(written, CONTROLS, { "About you": "Two years on the Spree", Days: ["Monday"] }), [
    { kind: "fill", label: "About you", value: "Two years on the Spree" },
    { kind: "select", label: "Days", value: "Monday" },
  ]);
});

test("what a record does not say is not written, be it a guess or a consent", () => {
  const written: Action[] = [
    { kind: "select", label: "Membership", value: "Junior" },
    { kind: "check", label: "I accept the rules" },
    { kind: "fill", label: "First name", value: "Ann" },
  ];
  assert.deepEqual(asRecorded(written, CONTROLS, { "First name": "Ann" }), [
    { kind: "fill", label: "First name", value: "Ann" },
  ]);
});

test("the model decides where a value goes whose label the page does not have", () => {
  const written: Action[] = [
    { kind: "fill", label: "First name", value: "ann" },
    { kind: "check", label: "I accept the rules" },
    { kind: "select", label: "Membership", value: "Junior" },
  ];
  assert.deepEqual(asRecorded(written, CONTROLS, { "Given Name": "Ann", Rules: true }), [
    { kind: "fill", label: "First name", value: "Ann" },
    written[1],
  ]);
});

test("an option's own name is ticked or not; a label that nothing has stays as it was, to be reported", () => {
  const lost: Action = { kind: "fill", label: "Boat", value: "Otter" };
  assert.deepEqual(asRecorded([lost], CONTROLS, { Monday: true, Saturday: "no" }), [
    { kind: "check", label: "Monday" },
    { kind: "uncheck", label: "Saturday" },
    lost,
  ]);
});
