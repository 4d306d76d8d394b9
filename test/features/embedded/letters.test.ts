import assert from "node:assert/strict";
import { test } from "node:test";
import { splitHash } from "../../../src/env/forms/split-hash.js";
import { fieldKinds } from "../../../src/features/embedded/catalog.js";
import { GRAMMARS, OTHER_WORDS, type Side } from "../../../src/features/embedded/letters/grammar.js";
import { inWords } from "../../../src/features/embedded/letters/notation.js";
import { embeddedTasks } from "../../../src/features/embedded/tasks.js";

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
  const actual = phrases("heldout").filter((text) => train.has(text));
  assert.deepEqual(actual, []);
});

test("no two words have one other word, so that no two fields get one name", () => {
  for (const side of ["train", "heldout"] as const) {
    const words = new Set([...OTHER_WORDS[side].labels.keys()]);
    const others = [...OTHER_WORDS[side].labels.values()];
    assert.equal(new Set(others).size, others.length, side);
    const actual = others.filter((other) => words.has(other));
    assert.deepEqual(actual, []);
  }
});

for (const level of LEVELS) {
  test(`level ${level}: each value stands where its span says, verbatim where the level does not reword`, () => {
    const plain = new Map(embeddedTasks("starter", 1, sizes).map((task) => [task.id, task]));
    let verbatim = 0;
    let values = 0;
    let gaps = 0;
    for (const task of embeddedTasks("starter", 1, sizes, 40, level)) {
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

test("the same seed gives the same letters, another seed others; the hash follows", () => {
  const hash = (seed: number, level: (typeof LEVELS)[number]): string =>
    splitHash(embeddedTasks("starter", seed, sizes, 20, level));
  assert.equal(hash(1, 2), hash(1, 2));
  const hashes = [hash(1, 1), hash(1, 2), hash(1, 3), hash(2, 2)];
  assert.equal(new Set(hashes).size, 4);
});

test("numbers in words", () => {
  assert.deepEqual([0, 12, 20, 47, 99, 100, 1.5].map(inWords), [
    ...["zero", "twelve", "twenty", "forty-seven", "ninety-nine"],
    undefined,
    undefined,
  ]);
});
