import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256 } from "../../../src/core/files.js";
import { formOf, HELDOUT_FORMS } from "../../../src/features/embedded/catalog.js";
import { fieldsOf } from "../../../src/features/embedded/form.js";
import { generatedForms } from "../../../src/features/embedded/generate.js";

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
