import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { TIERS } from "../../../src/env/site.js";
import { augmentedTask } from "../../../src/features/embedded/augment.js";
import { HELDOUT_FORMS, TRAINING_FORMS } from "../../../src/features/embedded/catalog.js";
import { fieldsOf } from "../../../src/features/embedded/form.js";
import { isReserved } from "../../../src/features/embedded/values.js";

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
