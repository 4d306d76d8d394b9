import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "../../../src/core/errors.js";
import { BLOCKED, BufferBuilder, batchBuffers, bucketLength, isCausal } from "../../../src/diffusion/layout/buffer.js";

/** Writes row n of buffer b as a string with an x for each visible entry. */
function sees(bias: Float32Array, length: number, b: number, n: number): string {
  return Array.from(bias.subarray((b * length + n) * length, (b * length + n + 1) * length), (x) =>
    x === 0 ? "x" : x === BLOCKED ? "." : "?",
  ).join("");
}

test("buffers are causal over the buffer, keep original positions and are padded at the end", () => {
  const buffer = new BufferBuilder([7, 8]);
  assert.equal(buffer.push(9, 3), 2);
  const out = batchBuffers([buffer], { batch: 2, length: 4, pad: 5 });
  assert.deepEqual([...out.inputIds], [7n, 8n, 9n, 5n, 5n, 5n, 5n, 5n]);
  assert.deepEqual([...out.positionIds], [0n, 1n, 5n, 0n, 0n, 0n, 0n, 0n]);
  const actual = [0, 1, 2, 3].map((n) => sees(out.attentionBias, 4, 0, n));
  assert.deepEqual(actual, ["x...", "xx..", "xxx.", "...x"]);
  const found = [0, 1, 2, 3].map((n) => sees(out.attentionBias, 4, 1, n));
  assert.deepEqual(found, ["x...", ".x..", "..x.", "...x"]);
});

test("an entry may see a shared beginning and its own block only", () => {
  const buffer = { ids: [1, 1, 1, 1, 1], positions: [0, 1, 2, 3, 4], shared: [0, 0, 0, 1, 1], own: [0, 0, 0, 3, 3] };
  const out = batchBuffers([buffer], { batch: 1, length: 5, pad: 0 });
  const actual = [2, 3, 4].map((n) => sees(out.attentionBias, 5, 0, n));
  assert.deepEqual(actual, ["xxx..", "x..x.", "x..xx"]);
});

test("a batch is causal where no entry of any row sees a later one", () => {
  const [ids, positions] = [
    [1, 1, 1],
    [0, 1, 2],
  ];
  const causal = { ids, positions, shared: [0, 0, 1], own: [0, 0, 2] };
  const batch = (...buffers: Parameters<typeof batchBuffers>[0]) =>
    batchBuffers(buffers, { batch: 2, length: 4, pad: 0 });
  assert.ok(isCausal(batch(causal, causal)));
  assert.ok(!isCausal(batch(causal, { ids, positions, shared: [0, 3, 0] })));
});

test("the blocked bias vanishes in a float32 softmax and is finite", () => {
  assert.equal(Math.fround(Math.exp(BLOCKED)), 0);
  assert.ok(Number.isFinite(Math.fround(BLOCKED)));
});

test("what does not fit is refused", () => {
  const buffer = new BufferBuilder([1, 2, 3]);
  assert.throws(() => batchBuffers([buffer], { batch: 1, length: 2, pad: 0 }), UserError);
  assert.throws(() => batchBuffers([buffer, buffer], { batch: 1, length: 4, pad: 0 }), UserError);
});

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
        const laid = batchBuffers([buffer], { batch: 1, length: Math.max(1, buffer.length), pad: 15 });
        buffer.positions.forEach((position, n) => {
          buffer.positions.forEach((other, j) => {
            const sees = (laid.attentionBias[n * buffer.length + j] as number) > BLOCKED / 2;
            assert.equal(sees, Math.floor(other / size) <= Math.floor(position / size));
          });
        });
      },
    ),
    { seed: 1, numRuns: 200 },
  );
});
