import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { layBuffers } from "../../../src/attention/rows.js";
import { BufferBuilder, bucketLength } from "../../../src/diffusion/layout/buffer.js";
import { tokensOf } from "../../support/token-batch.js";

test("buckets are multiples", () => {
  const actual = [0, 1, 32, 33].map((n) => bucketLength(n));
  assert.deepEqual(actual, [32, 32, 32, 64]);
});

test("long sequences come in coarser buckets: 8 for every doubling", () => {
  const actual = [256, 257, 512, 513, 1025].map((n) => bucketLength(n, 16));
  assert.deepEqual(actual, [256, 288, 512, 576, 1152]);
  const between = (low: number, high: number): number =>
    new Set(Array.from({ length: high - low }, (_, i) => bucketLength(low + i + 1, 16))).size;
  assert.deepEqual([between(0, 256), between(256, 512), between(4096, 8192)], [16, 8, 8]);
});

test("in blocks an entry sees its own block and those before, none behind", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.nat(7), { maxLength: 6 }),
      fc.nat(12),
      (size, prompt, cells) => {
        const buffer = new BufferBuilder(prompt);
        // in any order, as tokens are committed
        for (let cell = 0; cell < cells; cell++) buffer.push(9, (cell * 5) % Math.max(1, cells));
        const before = buffer.ids.map((id, n) => [id, buffer.positions[n]]);
        const places = buffer.inBlocks(size);
        before.forEach((entry, n) => {
          assert.deepEqual([buffer.ids[places[n] as number], buffer.positions[places[n] as number]], entry);
        });
        const { attentionBias } = tokensOf(
          layBuffers([buffer], { batch: 1, length: Math.max(1, buffer.length), pad: 15 }),
        );
        buffer.positions.forEach((position, n) => {
          buffer.positions.forEach((other, j) => {
            const sees = attentionBias[n * buffer.length + j] === 0;
            assert.equal(sees, Math.floor(other / size) <= Math.floor(position / size));
          });
        });
      },
    ),
    { seed: 1, numRuns: 200 },
  );
});
