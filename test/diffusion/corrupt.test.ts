import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "../../src/core/errors.js";
import { Rng } from "../../src/core/rng.js";
import { type CorruptOptions, corruptBatch, maskSlots, stratifiedFractions } from "../../src/diffusion/corrupt.js";
import { TOKENS } from "./fake-model.js";

const OPTIONS: CorruptOptions = {
  tokens: TOKENS,
  slotSize: 4,
  responseLength: 16,
  length: 24,
  arWeight: 0.5,
  eosFillWeight: 0.1,
  maskEosSlots: false,
};
const EXAMPLES = [
  { prompt: [10, 11, 12], response: [20, 21, 22, 23, 24, 25] },
  { prompt: [10], response: [30, 31, 32, 33, 34, 35, 36, 37, 38, 39] },
];

test("masked slots stand behind the clean ones, all with their own positions", () => {
  const example = { prompt: [10, 11], response: [20, 21, 22, 23, 24, 25, 26] };
  const { buffer, indexOf } = maskSlots(example, 2, [true, false, true, false], [3, 1], 3);
  assert.deepEqual(buffer.ids, [10, 11, 26, 22, 23, 3, 3, 3, 3]);
  assert.deepEqual(buffer.positions, [0, 1, 8, 4, 5, 2, 3, 6, 7]);
  assert.deepEqual([...indexOf], [5, 6, 3, 4, 7, 8, 2]);
});

test("fractions are stratified: one in each part of (0, 1)", () => {
  const fractions = stratifiedFractions(8, Rng.named(1, "f"));
  const strata = fractions.map((p) => Math.floor(((p - 1e-3) / (1 - 1e-3)) * 8));
  assert.deepEqual([...strata].sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.notDeepEqual(strata, [0, 1, 2, 3, 4, 5, 6, 7]);
});

test("every term points at the row that predicts it, in the right layout", () => {
  fc.assert(
    fc.property(fc.integer(), fc.boolean(), (seed, maskEosSlots) => {
      const options = { ...OPTIONS, batch: 3, maskEosSlots };
      const batch = corruptBatch(EXAMPLES, options, Rng.named(seed, "c"));
      const { length, responseLength, slotSize } = options;
      assert.equal(batch.inputIds.length, 3 * length);
      EXAMPLES.forEach(({ prompt, response }, b) => {
        const at = (n: number): number => Number(batch.inputIds[b * length + n]);
        for (let i = 0; i < responseLength; i++) {
          const term = b * responseLength + i;
          const target = i < response.length ? response[i] : TOKENS.eos;
          const row = Number(batch.rows[term]) - b * length;
          assert.equal(Number(batch.targets[term]), target);
          if (batch.masked[term] === 1) {
            assert.equal(at(row), TOKENS.mask);
            assert.equal(Number(batch.positionIds[b * length + row]), prompt.length + i);
            assert.ok((batch.weights[term] as number) > 0);
          } else if (i % slotSize === 0) {
            assert.equal(batch.weights[term], 0);
          } else {
            assert.equal(at(row), i - 1 < response.length ? response[i - 1] : TOKENS.eos);
            assert.equal(at(row + 1), target);
            assert.equal(Number(batch.positionIds[b * length + row]), prompt.length + i - 1);
          }
          if (maskEosSlots && i >= response.length) assert.equal(batch.masked[term], 1);
        }
        // no clean token behind a mask
        const ids = Array.from({ length: prompt.length + responseLength }, (_, n) => at(n));
        assert.ok(
          ids.lastIndexOf(TOKENS.mask) < 0 || ids.slice(ids.indexOf(TOKENS.mask)).every((id) => id === TOKENS.mask),
        );
      });
      assert.ok(batch.weights.subarray(2 * responseLength).every((w) => w === 0));
      const clean = batch.weights.reduce((sum, w, term) => (batch.masked[term] === 1 ? sum : sum + w), 0);
      assert.ok(clean === 0 || Math.abs(clean - 0.5) < 1e-6);
    }),
    { numRuns: 60, seed: 3 },
  );
});

test("the masked weights are unbiased: a token's expected weight is its share of the canvas", () => {
  for (const maskEosSlots of [false, true]) {
    const expected = new Float64Array(2 * OPTIONS.responseLength);
    const rng = Rng.named(5, "unbiased");
    const draws = 6000;
    for (let i = 0; i < draws; i++) {
      const batch = corruptBatch(EXAMPLES, { ...OPTIONS, maskEosSlots }, rng);
      batch.weights.forEach((w, term) => {
        if (batch.masked[term] === 1) expected[term] = (expected[term] as number) + w / draws;
      });
    }
    EXAMPLES.forEach(({ response }, b) => {
      const fill = OPTIONS.responseLength - response.length - 1;
      const answer = response.length + 1 + 0.1 * fill;
      for (let i = 0; i < OPTIONS.responseLength; i++) {
        const share = (i > response.length ? 0.1 : 1) / answer / 2;
        const ratio = (expected[b * OPTIONS.responseLength + i] as number) / share;
        assert.ok(Math.abs(ratio - 1) < 0.2, `example ${b}, position ${i}: ${ratio}`);
      }
    });
  }
});

test("examples that do not fit are refused", () => {
  const long = { prompt: [1], response: Array.from({ length: 16 }, () => 1) };
  const rng = Rng.named(1, "x");
  assert.throws(() => corruptBatch([long], OPTIONS, rng), UserError);
  assert.throws(() => corruptBatch([{ prompt: long.response, response: [1] }], OPTIONS, rng), UserError);
  assert.throws(() => corruptBatch(EXAMPLES, { ...OPTIONS, responseLength: 15 }, rng), UserError);
});
