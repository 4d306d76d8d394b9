import assert from "node:assert/strict";
import { test } from "node:test";
import { TIERS, type Tier } from "../../../src/env/site.js";
import { FORMS, fieldKinds, formOf, HELDOUT_FORMS, TRAINING_FORMS } from "../../../src/features/embedded/catalog.js";
import { fieldsOf, formOfFields } from "../../../src/features/embedded/form.js";
import * as words from "../../../src/features/embedded/words.js";

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
const labelsOf = (forms: typeof FORMS, tier: Tier): string[] =>
  forms.flatMap((form) => fieldsOf(form, tier).map((field) => field.label));

test("there are 25 forms in 8 domains, 5 of them held out, each of another domain", () => {
  assert.equal(FORMS.length, 25);
  assert.equal(new Set(FORMS.map((form) => form.id)).size, 25);
  assert.equal(new Set(FORMS.map((form) => form.title)).size, 25);
  assert.equal(new Set(FORMS.map((form) => form.id.split("/")[0])).size, 8);
  assert.equal(TRAINING_FORMS.length, 20);
  assert.equal(new Set(HELDOUT_FORMS.map((form) => form.id.split("/")[0])).size, 5);
  for (const { id } of FORMS) assert.match(id, /^[a-z]+\/[a-z]+(-[a-z]+)+$/);
});

test("every form has both tiers: all of its fields, and 3 to 6 short ones", () => {
  let total = 0;
  for (const form of FORMS) {
    const starter = fieldsOf(form, "starter");
    assert.ok(starter.length >= 3 && starter.length <= 6, form.id);
    assert.ok(form.fields.length >= 12 && form.fields.length <= 19, form.id);
    total += starter.length;
    for (const { kind, label, preset } of starter) {
      assert.ok(!["textarea", "file", "url", "checkbox-group"].includes(kind), `${form.id} ${label}`);
      // a compact prompt cannot tell that a box has to be unticked
      assert.ok(kind !== "checkbox" || preset === undefined, `${form.id} ${label}`);
      assert.ok(label.split(" ").length <= 3, label);
    }
  }
  assert.ok(total / FORMS.length > 3.5 && total / FORMS.length < 4.5);
});

test("labels and names are unique in a form and never the same, option texts never what they post", () => {
  for (const form of FORMS) {
    const names = form.fields.map((field) => field.name);
    assert.equal(new Set(names).size, names.length, form.id);
    assert.equal(new Set(form.fields.map((field) => field.label)).size, names.length, form.id);
    for (const field of form.fields) {
      assert.notEqual(plain(field.label), plain(field.name), `${form.id} ${field.label}`);
      assert.match(field.name, /^[a-z][a-z0-9_]*$/);
      for (const option of field.options ?? []) assert.notEqual(option.text, option.value, `${form.id} ${field.label}`);
      assert.equal(new Set(field.options?.map((option) => option.value)).size, field.options?.length ?? 0);
    }
  }
});

test("the forms use every sort of control, label, default and requirement", () => {
  const fields = FORMS.flatMap((form) => form.fields);
  const kinds = new Set<string>(fields.map(({ kind }) => kind));
  for (const kind of "text textarea email tel url number date time select radio checkbox checkbox-group file".split(
    " ",
  ))
    assert.ok(kinds.has(kind), kind);
  const ways = new Set(fields.map(({ labelling }) => labelling));
  for (const how of ["for", "wrap", "aria", "heading"] as const) assert.ok(ways.has(how), how);
  assert.ok(fields.some((field) => field.star && !field.required));
  assert.ok(fields.some((field) => field.kind === "checkbox" && field.preset === true));
  assert.ok(fields.some((field) => field.kind === "select" && field.preset === field.options?.[0]?.text));
  assert.ok(fields.some((field) => field.kind === "file" && field.required));
  assert.equal(FORMS.filter((form) => form.scripted).length, 1);
  assert.ok(FORMS.some((form) => form.encoding === "multipart"));
});

test("held-out forms recombine known words into labels that are partly new", () => {
  for (const tier of TIERS) {
    const seen = new Set(labelsOf(TRAINING_FORMS, tier));
    const seenWords = new Set([...seen].flatMap((label) => label.split(" ")));
    for (const form of HELDOUT_FORMS) {
      const labels = fieldsOf(form, tier).map((field) => field.label);
      assert.ok(labels.filter((label) => !seen.has(label)).length >= labels.length / 2, `${form.id} ${tier}`);
      for (const word of labels.flatMap((label) => label.split(" ")))
        assert.ok(seenWords.has(word), `${form.id}: ${word}`);
    }
  }
});

test("a starter option is known from training, and is never a word of free text", () => {
  const optionsOf = (forms: typeof FORMS): string[] =>
    forms.flatMap((form) =>
      fieldsOf(form, "starter").flatMap((field) => field.options?.map((option) => option.text) ?? []),
    );
  const known = new Set(optionsOf(TRAINING_FORMS));
  for (const text of optionsOf(HELDOUT_FORMS)) assert.ok(known.has(text), text);
  for (const word of Object.values(words).flat()) assert.ok(!known.has(word), word);
});

test("fieldKinds gives each field's control, default and options", () => {
  const kinds = fieldKinds("library/card-request", "full");
  assert.deepEqual(kinds["First Name"], { kind: "text", default: "", name: "given_nm", required: true });
  const options = ["Adult", "Child", "Student", "Senior"];
  assert.deepEqual(kinds["Card Type"], { kind: "select", default: "Adult", options, name: "card_kind" });
  assert.deepEqual(kinds.Newsletter, { kind: "checkbox", default: true, name: "news_opt" });
  assert.deepEqual(kinds["Large Print"], { kind: "checkbox", default: false, name: "wants_lp" });
  assert.deepEqual(fieldKinds("garden/plot-request", "full")["Garden Tools"]?.default, []);
  assert.deepEqual(Object.keys(fieldKinds("library/card-request", "starter")), formOf("library/card-request").starter);
  assert.throws(() => formOf("library/none"), /no form "library\/none"/);
});

test("a starter variant that names an unknown field is refused", () => {
  const made = () => formOfFields("a/b-c", { title: "A", intro: "B", starter: ["Nothing"] }, []);
  assert.throws(made, /no field "Nothing"/);
});
