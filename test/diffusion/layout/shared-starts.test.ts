import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BLOCKED, type TokenBuffer } from "../../../src/diffusion/layout/buffer.js";
import { shareStarts } from "../../../src/diffusion/layout/shared-starts.js";
import type { Tensor } from "../../../src/onnx/types.js";

const numbers = (tensor: Tensor | undefined): number[] => Array.from(tensor?.data ?? [], Number);

/** What entry `n` of buffer `i` sees, as [token, position] in order of the keys. */
function seen({ inputs, flat }: ReturnType<typeof shareStarts>, i: number, n: number): (readonly [number, number])[] {
  const [ids, positions, keys, places] = ["input_ids", "position_ids", "keys", "places"].map((name) =>
    numbers(inputs[name]),
  ) as [number[], number[], number[], number[]];
  const [, width] = (inputs.keys as Tensor).shape as [number, number];
  const [, size] = (inputs.queries as Tensor).shape as [number, number];
  const at = places[flat(i, n)] as number;
  const bias = inputs.attention_bias?.data as Float32Array;
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
          // entry n sees [0, shared) and [own, n]; those of the start see all before them
          const cut = (which: 0 | 1, n: number): number => (cuts[n - start.length]?.[which] as number) % (n + 1);
          return {
            ids,
            positions: ids.map((_, n) => 2 * n + start.length),
            shared: ids.map((_, n) => (n < start.length ? 0 : cut(0, n))),
            own: ids.map((_, n) => (n < start.length ? 0 : cut(1, n))),
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
            const sees = j < (buffer.shared?.[n] ?? 0) || (j >= (buffer.own?.[n] ?? 0) && j <= n);
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
