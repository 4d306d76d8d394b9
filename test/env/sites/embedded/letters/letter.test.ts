import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256 } from "../../../../../src/core/files.js";
import { fieldKinds, formOf, HELDOUT_FORMS } from "../../../../../src/env/sites/embedded/catalog.js";
import { fieldsOf } from "../../../../../src/env/sites/embedded/form.js";
import { generatedForms } from "../../../../../src/env/sites/embedded/generate.js";
import { GRAMMARS, OTHER_WORDS, type Side } from "../../../../../src/env/sites/embedded/letters/grammar.js";
import { inWords } from "../../../../../src/env/sites/embedded/letters/notation.js";
import { embeddedTasks } from "../../../../../src/env/sites/embedded/tasks.js";
import { splitHash } from "../../../../../src/env/sites/parts/split-hash.js";

const sizes = { train: 4, val: 2, test: 2, heldout: 4 };
const LEVELS = [1, 2, 3] as const;

/** Every phrase of a side, without what is put into it. */
function phrases(side: Side): string[] {
  const { voices, and, ...rows } = GRAMMARS[side];
  return [
    and,
    ...Object.values(rows).flat(),
    ...voices.flatMap(({ opening, say, yes, no }) => [...opening, ...say, ...yes, ...no]),
    ...OTHER_WORDS[side].labels.values(),
    ...OTHER_WORDS[side].options.values(),
  ].map((text) => text.toLowerCase());
}

test("no phrase, word or notation of held-out letters is one of training letters", () => {
  const train = new Set(phrases("train"));
  assert.deepEqual(
    phrases("heldout").filter((text) => train.has(text)),
    [],
  );
});

test("no two words have one other word, so that no two fields get one name", () => {
  for (const side of ["train", "heldout"] as const) {
    const words = new Set([...OTHER_WORDS[side].labels.keys()]);
    const others = [...OTHER_WORDS[side].labels.values()];
    assert.equal(new Set(others).size, others.length, side);
    assert.deepEqual(
      others.filter((other) => words.has(other)),
      [],
    );
  }
});

for (const level of LEVELS) {
  test(`level ${level}: each value stands where its span says, verbatim where the level does not reword`, () => {
    const plain = new Map(embeddedTasks("starter", 1, sizes).map((task) => [task.id, task]));
    let verbatim = 0;
    let values = 0;
    let gaps = 0;
    for (const task of embeddedTasks("starter", 1, sizes, level, 40)) {
      const letter = task.document ?? "";
      const kinds = fieldKinds(task.form, "starter");
      assert.deepEqual(Object.keys(task.spans ?? {}), Object.keys(task.fields));
      for (const [label, span] of Object.entries(task.spans ?? {})) {
        if (span === null) {
          gaps++;
          assert.deepEqual(task.fields[label], kinds[label]?.default, `${task.id} ${label}`);
          continue;
        }
        const said = letter.slice(...span);
        assert.notEqual(said, "");
        if (typeof task.fields[label] === "boolean") continue;
        values++;
        verbatim += Number(said === String(task.fields[label]));
        const before = plain.get(task.id);
        if (before !== undefined) assert.deepEqual(task.fields[label], before.fields[label]);
      }
    }
    assert.equal(gaps > 0, level === 3);
    assert.ok(level === 1 ? verbatim / values > 0.85 : verbatim / values < 0.8, `${verbatim / values}`);
  });
}

test("the same seed gives the same letters and forms, another seed others; the hash follows", () => {
  const hash = (seed: number, level: (typeof LEVELS)[number]): string =>
    splitHash(embeddedTasks("starter", seed, sizes, level, 20));
  assert.equal(hash(1, 2), hash(1, 2));
  assert.equal(new Set([hash(1, 1), hash(1, 2), hash(1, 3), hash(2, 2)]).size, 4);
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
    assert.deepEqual(
      [form.title, ...labels].filter((text) => forbidden.has(text)),
      [],
    );
    const short = fieldsOf(form, "starter");
    assert.ok(short.length >= 3 && short.length <= 6, form.id);
    for (const { kind } of short) kinds.add(kind);
    assert.deepEqual(formOf(form.id), form);
  }
  assert.deepEqual([...kinds].sort(), [
    "checkbox",
    "date",
    "email",
    "number",
    "radio",
    "select",
    "tel",
    "text",
    "time",
  ]);
});

test("numbers in words", () => {
  assert.deepEqual([0, 12, 20, 47, 99, 100, 1.5].map(inWords), [
    ...["zero", "twelve", "twenty", "forty-seven", "ninety-nine"],
    undefined,
    undefined,
  ]);
});
