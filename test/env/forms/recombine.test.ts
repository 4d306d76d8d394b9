import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { recombined } from "../../../src/env/forms/recombine.js";
import type { FieldKind, FieldValue, KnownTask } from "../../../src/env/site.js";
import { taskFor } from "../page-site.js";

const known = (form: string, fields: Record<string, FieldValue>): KnownTask => ({
  task: { ...taskFor(`/${form}`, fields), id: form },
  kinds: Object.fromEntries(
    Object.entries(fields).map(([label, value]): [string, FieldKind] => [
      label,
      typeof value === "boolean" ? { kind: "checkbox", default: false } : { kind: "text", default: "" },
    ]),
  ),
});
const tasks = [
  known("a", { "Full Name": "Ada Byron", Phone: "555 0199", "I agree": true }),
  known("b", { City: "Turin", "Team Size": "12" }),
];
const draws = (fromDocument = false): KnownTask[] => {
  const rng = Rng.named(0, "recombine");
  return Array.from({ length: 300 }, () => recombined(tasks, rng, fromDocument));
};
const own = new Set(tasks.flatMap(({ task }) => Object.keys(task.fields)));

test("recombined tasks hold fields of the known ones, some under labels that no form has", () => {
  let renamed = 0;
  for (const { task, kinds } of draws()) {
    const labels = Object.keys(task.fields);
    assert.ok(labels.length > 0);
    assert.deepEqual(Object.keys(kinds), labels);
    renamed += labels.filter((label) => !own.has(label)).length;
    for (const [label, value] of Object.entries(task.fields))
      assert.equal(kinds[label]?.kind, value === true ? "checkbox" : "text", label);
  }
  assert.ok(renamed > 100, String(renamed));
});

test("no label or value breaks a line of a prompt or plan", () => {
  for (const { task } of draws())
    for (const [label, value] of Object.entries(task.fields)) assert.doesNotMatch(`${label}${value}`, /[|\n]/);
});

test("what a document tells stays as the document tells it", () => {
  for (const { task } of draws(true)) {
    const [source] = tasks.filter(({ task: { id } }) => id === task.id);
    for (const [label, value] of Object.entries(task.fields)) assert.equal(source?.task.fields[label], value);
  }
});
