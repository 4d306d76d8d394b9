import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BLOCKED } from "../../src/attention/bias.js";
import { isCausal, type LaidOut, layBuffers, shareStarts, type TokenBuffer } from "../../src/attention/rows.js";
import { UserError } from "../../src/core/errors.js";
import { BufferBuilder } from "../../src/diffusion/layout/buffer.js";
import type { Tensor } from "../../src/onnx/types.js";
import { denseBias, tokensOf } from "../support/token-batch.js";

/** Writes row n of buffer b as a string with an x for each visible entry. */
function sees(bias: Float32Array, length: number, b: number, n: number): string {
  return Array.from(bias.subarray((b * length + n) * length, (b * length + n + 1) * length), (x) =>
    x === 0 ? "x" : x === BLOCKED ? "." : "?",
  ).join("");
}

test("buffers are causal over the buffer, keep original positions and are padded at the end", () => {
  const buffer = new BufferBuilder([7, 8]);
  assert.equal(buffer.push(9, 3), 2);
  const out = tokensOf(layBuffers([buffer], { batch: 2, length: 4, pad: 5 }));
  assert.deepEqual([...out.inputIds], [7n, 8n, 9n, 5n, 5n, 5n, 5n, 5n]);
  assert.deepEqual([...out.positionIds], [0n, 1n, 5n, 0n, 0n, 0n, 0n, 0n]);
  const actual = [0, 1, 2, 3].map((n) => sees(out.attentionBias, 4, 0, n));
  assert.deepEqual(actual, ["x...", "xx..", "xxx.", "...x"]);
  const found = [0, 1, 2, 3].map((n) => sees(out.attentionBias, 4, 1, n));
  assert.deepEqual(found, ["x...", ".x..", "..x.", "...x"]);
});

test("an entry may see a common beginning and its own block only", () => {
  const buffer = { ids: [1, 1, 1, 1, 1], positions: [0, 1, 2, 3, 4], prefix: [0, 0, 0, 1, 1], from: [0, 0, 0, 3, 3] };
  const out = tokensOf(layBuffers([buffer], { batch: 1, length: 5, pad: 0 }));
  const actual = [2, 3, 4].map((n) => sees(out.attentionBias, 5, 0, n));
  assert.deepEqual(actual, ["xxx..", "x..x.", "x..xx"]);
});

test("a batch is causal where no entry of any row sees a later one", () => {
  const [ids, positions] = [Array(3).fill(1), [0, 1, 2]];
  const causal = { ids, positions, prefix: [0, 0, 1], from: [0, 0, 2] };
  const batch = (...buffers: TokenBuffer[]) => layBuffers(buffers, { batch: 2, length: 4, pad: 0 });
  assert.ok(isCausal(batch(causal, causal)));
  assert.ok(!isCausal(batch(causal, { ids, positions, prefix: [0, 3, 0] })));
});

test("what does not fit is refused", () => {
  const buffer = new BufferBuilder([1, 2, 3]);
  assert.throws(() => layBuffers([buffer], { batch: 1, length: 2, pad: 0 }), UserError);
  assert.throws(() => layBuffers([buffer, buffer], { batch: 1, length: 4, pad: 0 }), UserError);
});

const numbers = (tensor: Tensor | undefined): number[] => Array.from(tensor?.data ?? [], Number);

/** What entry `n` of buffer `i` sees, as [token, position] in order of the keys. */
function seen({ inputs, row }: LaidOut, i: number, n: number): (readonly [number, number])[] {
  const [ids, positions, keys, places] = ["input_ids", "position_ids", "keys", "places"].map((name) =>
    numbers(inputs[name]),
  ) as [number[], number[], number[], number[]];
  const [, width] = (inputs.keys as Tensor).shape as [number, number];
  const [, size] = (inputs.queries as Tensor).shape as [number, number];
  const at = places[row(i, n)] as number;
  const bias = denseBias(inputs).data as Float32Array;
  return Array.from({ length: width }, (_, w) => w)
    .filter((w) => (bias[at * width + w] as number) > BLOCKED / 2)
    .map((w) => keys[Math.floor(at / size) * width + w] as number)
    .map((token) => [ids[token] as number, positions[token] as number]);
}

const token = fc.nat(3);
/** Buffers with starts of one or two lengths over few tokens: many starts are equal, many others of the same length. */
const buffers = fc.array(
  fc
    .record({
      start: fc.array(token, { minLength: 2, maxLength: 3 }),
      rest: fc.array(token, { minLength: 1, maxLength: 5 }),
    })
    .chain(({ start, rest }) =>
      fc
        .array(fc.tuple(fc.nat(100), fc.nat(100)), { minLength: rest.length, maxLength: rest.length })
        .map((cuts): TokenBuffer => {
          const ids = [...start, ...rest];
          // entry n sees [0, prefix) and [from, n]; those of the start see all before them
          const cut = (which: 0 | 1, n: number): number => (cuts[n - start.length]?.[which] as number) % (n + 1);
          return {
            ids,
            positions: ids.map((_, n) => 2 * n + start.length),
            prefix: ids.map((_, n) => (n < start.length ? 0 : cut(0, n))),
            from: ids.map((_, n) => (n < start.length ? 0 : cut(1, n))),
            start: start.length,
          };
        }),
    ),
  { minLength: 1, maxLength: 5 },
);

test("an entry sees the same tokens at the same positions as in a sequence of its own, whatever is shared", () => {
  fc.assert(
    fc.property(buffers, (all) => {
      const laid = shareStarts(all);
      all.forEach((buffer, i) => {
        buffer.ids.forEach((_, n) => {
          const visible = buffer.ids.flatMap((id, j) => {
            const sees = j < (buffer.prefix?.[n] ?? 0) || (j >= (buffer.from?.[n] ?? 0) && j <= n);
            return sees ? [[id, buffer.positions[j] as number] as const] : [];
          });
          assert.deepEqual(seen(laid, i, n), visible);
        });
      });
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("consecutive sequences read an equal start once", () => {
  const buffer = (first: number): TokenBuffer => ({ ids: [first, 1, 2], positions: [0, 1, 2], start: 2 });
  const tokens = (...firsts: number[]): number => numbers(shareStarts(firsts.map(buffer)).inputs.input_ids).length;
  assert.deepEqual([tokens(0, 0, 0), tokens(0, 3, 0)], [5, 9]);
});
