import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256 } from "../../../src/core/files.js";
import { Rng } from "../../../src/core/rng.js";
import { TIERS } from "../../../src/env/site.js";
import { augmentedTask } from "../../../src/features/embedded/augment.js";
import { formOf, HELDOUT_FORMS, TRAINING_FORMS } from "../../../src/features/embedded/catalog.js";
import { fieldsOf } from "../../../src/features/embedded/form.js";
import { generatedForms } from "../../../src/features/embedded/generate.js";
import { isReserved } from "../../../src/features/embedded/values.js";

test("a seed gives the same generated forms, another one others", () => {
  // forms are kept by a process, so that only bytes known from before tell
  assert.equal(
    sha256(JSON.stringify(generatedForms(7, 30))),
    "710a22183a8d2d71aac7b933d683d6374312136812f283180d7e0f9cf2e5aabe",
  );
  assert.notEqual(JSON.stringify(generatedForms(7, 30)), JSON.stringify(generatedForms(8, 30)));
});

test("generated forms: 3 to 6 short fields, labels of their own, none of a held-out form", () => {
  const forbidden = new Set(HELDOUT_FORMS.flatMap((form) => [form.title, ...form.fields.map(({ label }) => label)]));
  const made = generatedForms(1, 300);
  const shapes = new Set(made.map(({ fields }) => fields.map(({ label }) => label).join()));
  assert.ok(shapes.size > 298, String(shapes.size));
  const kinds = new Set<string>();
  for (const form of made) {
    const labels = form.fields.map(({ label }) => label);
    assert.equal(new Set(labels).size, labels.length, form.id);
    assert.equal(new Set(form.fields.map(({ name }) => name)).size, labels.length, form.id);
    const actual = [form.title, ...labels].filter((text) => forbidden.has(text));
    assert.deepEqual(actual, []);
    const short = fieldsOf(form, "starter");
    assert.ok(short.length >= 3 && short.length <= 6, form.id);
    for (const { kind } of short) kinds.add(kind);
    assert.deepEqual(formOf(form.id), form);
  }
  assert.equal([...kinds].sort().join(" "), "checkbox date email number radio select tel text time");
});

for (const tier of TIERS) {
  test(`${tier}: made-up forms use training words, and nothing of the held-out forms or of reserved values`, () => {
    const words = new Set(
      TRAINING_FORMS.flatMap((form) => fieldsOf(form, tier).flatMap((field) => field.label.split(" "))),
    );
    const heldout = new Set(HELDOUT_FORMS.flatMap((form) => fieldsOf(form, tier).map((field) => field.label)));
    const titles = new Set(HELDOUT_FORMS.map((form) => form.title));
    const rng = Rng.named(3, "augment");
    for (let i = 0; i < 300; i++) {
      const { task, kinds } = augmentedTask(rng, tier);
      const labels = Object.keys(task.fields);
      assert.deepEqual(Object.keys(kinds), labels);
      assert.equal(task.split, "train");
      assert.ok(!titles.has(task.formTitle), task.formTitle);
      assert.ok(labels.length >= 3 && labels.length <= 19);
      for (const label of labels) {
        assert.ok(!heldout.has(label), label);
        for (const word of label.split(" ")) assert.ok(words.has(word), word);
        const value = task.fields[label];
        const kind = kinds[label];
        assert.ok(kind !== undefined && value !== undefined);
        assert.equal(kind.kind === "checkbox", typeof value === "boolean");
        if (kind.kind === "text" && /^[A-Z][a-z]+ [A-Z]/.test(String(value))) assert.ok(!isReserved(String(value)));
        if (kind.kind === "date") assert.ok(!isReserved(String(value)), String(value));
      }
      if (tier === "starter") {
        assert.ok(labels.length <= 6);
        assert.ok(Object.entries(task.fields).flat().join(" | ").length <= 150, task.instruction);
      }
    }
  });
}

test("the stream decides: same state, same task", () => {
  assert.deepEqual(augmentedTask(Rng.named(1, "a"), "starter"), augmentedTask(Rng.named(1, "a"), "starter"));
  assert.notDeepEqual(augmentedTask(Rng.named(1, "a"), "starter"), augmentedTask(Rng.named(2, "a"), "starter"));
});
