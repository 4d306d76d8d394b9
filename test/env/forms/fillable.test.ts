import assert from "node:assert/strict";
import { test } from "node:test";
import type { Control } from "../../../src/env/browser/controls.js";
import { unfillable } from "../../../src/env/forms/fillable.js";
import type { ControlKind, FieldValue } from "../../../src/env/site.js";

const control = (kind: ControlKind, preset: FieldValue = "", ...texts: readonly string[]): Control => ({
  index: 0,
  kind,
  widget: "native",
  present: true,
  label: "L",
  name: "n",
  required: false,
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
    assert.equal(unfillable(held as Control, value as FieldValue), undefined, `${held.kind} ${value}`);
  for (const [held, value, why] of [
    [control("select", "", "Red"), "Blue", "not an option"],
    [control("radio", "", "Small"), "Large", "not an option"],
    [control("checkbox-group", [], "Mon"), ["Mon", "Sun"], "not an option"],
    [control("checkbox", false), "perhaps", "neither yes nor no"],
    [control("number"), "a few", "not a number"],
    [control("date"), "next week", "not a date"],
    [control("time"), "noonish", "not a time"],
  ] as const)
    assert.equal(unfillable(held as Control, value as FieldValue), why, `${held.kind} ${value}`);
});
