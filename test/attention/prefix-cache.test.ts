import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { PrefixCache, type Reading } from "../../src/attention/prefix-cache.js";
import type { TokenBuffer } from "../../src/attention/rows.js";
import type { NamedTensors } from "../../src/onnx/tensors.js";
import { denseBias } from "../support/token-batch.js";

/** Encodes all that keys and values depend on: the token, its position, and the states of the tokens it sees. */
const state = (id: number, position: number, seen: readonly string[]): string =>
  `(${id}@${position}<${[...seen].sort().join("")})`;

/** Computes the states of a buffer without a cache. */
function read({ ids, positions, prefix, from }: TokenBuffer): string[] {
  const states: string[] = [];
  ids.forEach((id, j) => {
    const seen = states.filter((_, i) => i < (prefix?.[j] ?? 0) || i >= (from?.[j] ?? 0));
    states.push(state(id, positions[j] as number, seen));
  });
  return states;
}

const numbers = (inputs: NamedTensors, name: string): number[] => Array.from(inputs[name]?.data ?? [], Number);

/** A network that keeps the states of its last forward, as the graph does. */
class Kept {
  private states: readonly string[] = ["nothing"];

  /** @returns the states of the T new tokens. */
  forward(inputs: NamedTensors): string[] {
    const [ids, positions] = [numbers(inputs, "input_ids"), numbers(inputs, "position_ids")];
    if (inputs.lanes !== undefined) return this.inLanes(inputs, ids, positions);
    const [queries, places, keys] = ["queries", "places", "keys"].map((name) => numbers(inputs, name)) as number[][];
    const { shape, data } = denseBias(inputs);
    const [sequences, , most, width] = shape as [number, number, number, number];
    const [old, ours] = [this.states.length, ids.length];
    const fresh: string[] = [];
    const seenBy = (a: number): (string | undefined)[] =>
      Array.from({ length: width }, (_, w) => {
        const at = keys?.[a * width + w] as number;
        assert.ok(-ours <= at && at < old);
        return at < 0 ? fresh[ours + at] : this.states[at];
      });
    for (let query = 0; query < sequences * most; query++) {
      const [a, t] = [Math.floor(query / most), queries?.[query] as number];
      const bias = (data as Float32Array).subarray(query * width, (query + 1) * width);
      if (places?.[t] !== query) {
        assert.ok(bias.includes(0), "padding sees something");
        continue;
      }
      assert.equal(t, fresh.length, "tokens stand in the order of the queries");
      const itself = keys?.slice(a * width, (a + 1) * width).indexOf(t - ours) as number;
      assert.equal(bias[itself], 0, "a token sees itself");
      const actual = bias.subarray(itself + 1).every((x) => x < -1e8);
      assert.ok(actual, "nothing sees what lies behind it");
      const row = seenBy(a);
      const before = row.filter((_, w) => bias[w] === 0 && w !== itself);
      assert.ok(before.every((key) => key !== undefined));
      fresh.push(state(ids[t] as number, positions[t] as number, before as string[]));
    }
    assert.equal(fresh.length, ours, "every token has a query, and there is no padding among them");
    this.states = Array.from({ length: sequences }, (_, a) => seenBy(a) as string[]).flat();
    return fresh;
  }

  /** Writes new states behind those that a lane keeps. */
  private inLanes(inputs: NamedTensors, ids: readonly number[], positions: readonly number[]): string[] {
    const [starts, kept, longest] = ["starts", "kept", "longest"].map((name) => numbers(inputs, name)) as number[][];
    const states = [...this.states];
    const fresh: string[] = [];
    numbers(inputs, "lanes").forEach((lane, a) => {
      const [from, past] = [lane * (longest?.[1] as number), kept?.[a] as number];
      for (let t = starts?.[a] as number; t < (starts?.[a + 1] as number); t++) {
        const at = from + past + t - (starts?.[a] as number);
        states[at] = state(ids[t] as number, positions[t] as number, states.slice(from, at));
        fresh.push(states[at]);
      }
    });
    this.states = states;
    return fresh;
  }
}

/** Steps that often keep a prefix of the last buffer and change the rest, with one of three attention patterns. */
const step = fc.record({
  keep: fc.nat(12),
  ends: fc.boolean(),
  tokens: fc.array(fc.tuple(fc.nat(2), fc.nat(3), fc.nat(3)), { minLength: 1, maxLength: 6 }),
  from: fc.nat(3),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function continued(before: TokenBuffer | undefined, { keep, tokens }: Step): TokenBuffer {
  const cut = <T>(list: readonly T[] | undefined): T[] => [...(list ?? [])].slice(0, keep);
  const ids = cut(before?.ids);
  const positions = cut(before?.positions);
  const prefix = cut(before?.prefix);
  const from = cut(before?.from);
  for (const [id, position, sight] of tokens) {
    const here = ids.length;
    ids.push(id);
    positions.push(position);
    prefix.push(sight === 0 ? 0 : Math.floor(here / sight));
    from.push(sight === 0 ? 0 : here - (here % sight));
  }
  return { ids, positions, prefix, from };
}

/** Lists the rows of the entries from `from` on. */
const rowsOf = ({ ids }: TokenBuffer, from: number): number[] => Array.from(ids.keys()).slice(from);

/** Counts the tokens of a forward. */
const countOf = (inputs: NamedTensors): number => numbers(inputs, "input_ids").length;

describe("prefix cache", () => {
  it("gives every token the state that it has in the whole buffer, whatever was read before", () => {
    let [computed, whole, inPlace] = [0, 0, 0];
    fc.assert(
      fc.property(
        fc.array(fc.array(step, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 6 }),
        fc.nat(4),
        fc.constantFrom(undefined, 32),
        (rounds, splits, page) => {
          const [cache, network] = [new PrefixCache(page), new Kept()];
          const buffers = new Map<number, TokenBuffer>();
          for (const [r, [a, b, c]] of (rounds as [Step, Step, Step][]).entries()) {
            const readings = new Map<number, Reading>();
            // the last rollout equals the first one until they split
            const round = [a, b, c, r < splits ? a : b];
            round.forEach((part, key) => {
              if (part.ends && round.some((other) => !other.ends)) return;
              const buffer = continued(buffers.get(key), part);
              buffers.set(key, buffer);
              readings.set(key, { buffer, rows: rowsOf(buffer, Math.max(0, buffer.ids.length - 1 - part.from)) });
            });
            const { inputs, row } = cache.next(readings);
            const sequences = (inputs.lanes ?? inputs.keys)?.shape[0] as number;
            if (r < splits && readings.has(0)) assert.ok(sequences < readings.size);
            const got = network.forward(inputs);
            if (inputs.lanes !== undefined) inPlace++;
            computed += countOf(inputs);
            for (const [key, { buffer, rows }] of readings) {
              const expected = read(buffer);
              whole += expected.length;
              for (const n of rows) assert.equal(got[row(key, n)], expected[n]);
            }
          }
        },
      ),
      { seed: 3, numRuns: 300 },
    );
    assert.ok(computed < 0.8 * whole, `${computed} of ${whole} tokens were computed`);
    assert.ok(inPlace > 25, `${inPlace} rounds left all in place`);
  });

  it("computes what follows the first difference, and what is asked for", () => {
    const cache = new PrefixCache();
    const next = (ids: number[], from: number, more: Partial<TokenBuffer> = {}): number => {
      const buffer = { ids, positions: ids.map((_, i) => i), ...more };
      return countOf(cache.next(new Map([[0, { buffer, rows: rowsOf(buffer, from) }]])).inputs);
    };
    assert.equal(next([1, 2, 3, 4], 3), 4, "nothing is known yet");
    assert.equal(next([1, 2, 3, 4], 3), 1, "the row that is asked for");
    assert.equal(next([1, 2, 3, 4], 1), 3);
    assert.equal(next([1, 2, 5, 4, 6], 4), 3, "4 has seen 3");
    assert.equal(next([1, 2, 5, 4, 6], 4, { positions: [0, 1, 2, 7, 4] }), 2, "another position");
    assert.equal(next([1, 2, 5, 4, 6], 4, { positions: [0, 1, 2, 7, 4], from: [0, 0, 0, 1, 0] }), 2, "other sight");
    // the same attention pattern in another notation
    const prefix = [0, 0, 2, 0, 4];
    assert.equal(next([1, 2, 5, 4, 6], 4, { positions: [0, 1, 2, 7, 4], from: [0, 0, 2, 1, 3], prefix }), 1);
  });

  it("reads rollouts of one prompt once, until they differ", () => {
    const cache = new PrefixCache();
    const next = (...ids: number[][]): { sequences: number; tokens: number; keys: number[]; rows: number[] } => {
      const buffers = ids.map((list) => ({ ids: list, positions: list.map((_, i) => i) }));
      const { inputs, row } = cache.next(new Map(buffers.map((buffer, key) => [key, { buffer, rows: [3] }])));
      const [sequences = 0, width = 0] = inputs.keys?.shape ?? [];
      assert.equal(width, 32);
      const keys = numbers(inputs, "keys").filter((_, i) => i % width < 4);
      const rows = ids.map((_, key) => row(key, 3));
      return { sequences, tokens: countOf(inputs), keys, rows };
    };
    // new tokens have negative indices, counted from the end
    const first = { sequences: 2, tokens: 8, keys: [-8, -7, -6, -5, -4, -3, -2, -1], rows: [3, 3, 7] };
    assert.deepEqual(next([1, 2, 3, 0], [1, 2, 3, 0], [4, 2, 3, 0]), first);
    const keys = [0, 1, 2, -3, 0, 1, 2, -2, 32, 33, 34, -1];
    const second = { sequences: 3, tokens: 3, keys, rows: [0, 1, 2] };
    assert.deepEqual(next([1, 2, 3, 5], [1, 2, 3, 6], [4, 2, 3, 6]), second);
    // rollouts share again once they are equal
    assert.equal(next([1, 2, 3, 7], [1, 2, 3, 7], [4, 2, 3, 7]).sequences, 2);
  });

  it("finds a token where others stand between it and what it sees", () => {
    const cache = new PrefixCache();
    const next = (buffer: TokenBuffer, rows: number[]): number =>
      countOf(cache.next(new Map([[0, { buffer, rows }]])).inputs);
    // two slots after a prompt of one token that grow side by side and do not see each other
    const slots = (n: number): TokenBuffer => ({
      ids: [1, ...Array(n).fill(2), ...Array(n).fill(3)],
      positions: [0, ...Array.from({ length: 2 * n }, (_, i) => 1 + (i % n) + (i < n ? 0 : 4))],
      prefix: [0, ...Array(2 * n).fill(1)],
      from: [0, ...Array(n).fill(1), ...Array(n).fill(n + 1)],
    });
    assert.equal(next(slots(1), [1, 2]), 3);
    assert.equal(next(slots(2), [2, 4]), 2);
    assert.equal(next(slots(3), [3, 6]), 2);
  });

  it("forgets a sequence that is left out", () => {
    const cache = new PrefixCache();
    const lengths = [[0, 1], [1], [0, 1]].map((keys) => {
      const buffer = (key: number): TokenBuffer => ({ ids: [key, 2, 3], positions: [0, 1, 2] });
      const { inputs } = cache.next(new Map(keys.map((key) => [key, { buffer: buffer(key), rows: [2] }])));
      return `${inputs.keys?.shape[0]}: ${countOf(inputs)}`;
    });
    assert.deepEqual(lengths, ["2: 6", "1: 1", "2: 4"]);
  });
});
