import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { explain, isLeftOf, type Observed } from "../../../../src/features/learned-pages/learn/explain.js";
import { codeOf, isOthers, type Options } from "../../../../src/features/learned-pages/learn/offered-options.js";

const NONE = new Set<string>();
const sample = (value: string, raw: string, options?: Options): Observed => ({
  fields: { Province: value },
  posted: [["province", raw]],
  ...(options === undefined ? {} : { options: { Province: options } }),
});
const ITALY: Options = [
  ["Agrigento", "AG"],
  ["Milano", "MI"],
  ["Torino", "TO"],
];

test("a code that the page offers for another text is no code", () => {
  const wrong = [sample("Milano", "AG", ITALY), sample("Torino", "TO", ITALY)];
  assert.equal(explain("Province", "text", wrong, true, NONE), undefined);
  const right = [sample("Milano", "MI", ITALY), sample("Torino", "TO", ITALY)];
  assert.deepEqual(explain("Province", "text", right, true, NONE)?.notation, {
    as: "codes",
    codes: { Milano: "MI", Torino: "TO" },
  });
  assert.deepEqual([codeOf(ITALY, "milano"), codeOf(ITALY, "Roma")], ["MI", undefined]);
  assert.deepEqual([isOthers(ITALY, "Milano", "MI"), isOthers(ITALY, "Milano", "7")], [false, false]);
});

test("what a page leaves of a free text is no code, wherever it cuts", () => {
  const text = fc.string({ minLength: 6, maxLength: 30, unit: fc.constantFrom(..."abcdefgh ") });
  const left = (value: string, keep: readonly boolean[]): string =>
    [...value].filter((_, i) => keep[i % keep.length]).join("");
  fc.assert(
    fc.property(
      fc.uniqueArray(text, { minLength: 2, maxLength: 3 }),
      fc.array(fc.boolean(), { minLength: 3, maxLength: 9 }),
      (values, keep) => {
        const samples = values.map((value) => sample(value, left(value, keep)));
        for (const value of values) assert.ok(isLeftOf(left(value, keep), value));
        assert.notEqual(explain("Province", "text", samples, true, NONE, 0, true)?.notation.as, "codes");
      },
    ),
    { seed: 3, numRuns: 2000 },
  );
});
