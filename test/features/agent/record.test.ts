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

const fill = (label: string, value: string): Action => ({ kind: "fill", label, value });
const select = (label: string, value: string): Action => ({ kind: "select", label, value });
const check = (label: string): Action => ({ kind: "check", label });

test("a value whose label the page has is put in as it is, whatever the model wrote there", () => {
  const given = { "About you": "Two years on the Spree", Days: ["Monday"] };
  const put = asRecorded([fill("About you", "two years on the spree")], CONTROLS, given);
  assert.deepEqual(put, [fill("About you", "Two years on the Spree"), select("Days", "Monday")]);
});

test("what a record does not say is not written, be it a guess or a consent", () => {
  const written = [select("Membership", "Junior"), check("I accept the rules"), fill("First name", "Ann")];
  assert.deepEqual(asRecorded(written, CONTROLS, { "First name": "Ann" }), [fill("First name", "Ann")]);
});

test("the model decides where a value goes whose label the page does not have", () => {
  const written = [fill("First name", "ann"), check("I accept the rules"), select("Membership", "Junior")];
  const put = asRecorded(written, CONTROLS, { "Given Name": "Ann", Rules: true });
  assert.deepEqual(put, [fill("First name", "Ann"), check("I accept the rules")]);
});

test("an option's own name is ticked or not; a label that nothing has stays as it was, to be reported", () => {
  const lost = fill("Boat", "Otter");
  const put = asRecorded([lost], CONTROLS, { Monday: true, Saturday: "no" });
  assert.deepEqual(put, [check("Monday"), { kind: "uncheck", label: "Saturday" }, lost]);
});
