import assert from "node:assert/strict";
import { test } from "node:test";
import { allOutcomes } from "../../src/core/outcomes.js";
import { Rng } from "../../src/core/rng.js";

const PINNED = [343943, 86770, 930441, 472500, 839069];

test("a stream depends on its seed and its name, and on nothing else", () => {
  const draws = (seed: number, name: string): number[] => {
    const rng = Rng.named(seed, name);
    return Array.from({ length: 5 }, () => rng.int(1_000_000));
  };
  assert.deepEqual(draws(1, "a"), draws(1, "a"));
  const different = [draws(1, "a"), draws(2, "a"), draws(1, "b"), draws(11, "a"), draws(1, "1/a")];
  assert.equal(new Set(different.map(String)).size, different.length);
  // runs of earlier versions go on with the same numbers
  assert.deepEqual(draws(0, "tasks/0"), PINNED);
});

test("a stream goes on from its state, of which it gives a copy", () => {
  const rng = Rng.named(3, "state");
  rng.normal();
  const state = rng.state();
  const restored = Rng.restore(JSON.parse(JSON.stringify(state)));
  const next = [rng.uniform(), rng.int(10), rng.normal()];
  assert.deepEqual([restored.uniform(), restored.int(10), restored.normal()], next);
  assert.deepEqual(Rng.restore(state).uniform(), next[0]);
});

test("a shuffle gives every order with the same probability, and leaves what it was given", () => {
  const items = ["a", "b", "c", "d"];
  const orders = allOutcomes((rng) => rng.shuffle(items));
  assert.equal(new Set(orders.map(({ value }) => value.join())).size, 24);
  assert.ok(orders.every(({ probability }) => Math.abs(probability - 1 / 24) < 1e-12));
  assert.deepEqual(items, ["a", "b", "c", "d"]);
});

test("draws have the distributions that they say", () => {
  const rng = Rng.named(4, "moments");
  const count = 20_000;
  const moments = (draw: () => number): number[] => {
    const sums = [0, 0, 0, 0];
    for (let i = 0; i < count; i++) {
      const x = draw();
      for (let k = 0; k < 4; k++) sums[k] = (sums[k] as number) + x ** (k + 1) / count;
    }
    return sums;
  };
  // each within five standard errors
  const close = (actual: number[], expected: number[], errors: number[]): void => {
    actual.forEach((x, k) => {
      const error = (5 * (errors[k] as number)) / Math.sqrt(count);
      assert.ok(Math.abs(x - (expected[k] as number)) < error, `moment ${k + 1}: ${x}`);
    });
  };
  close(
    moments(() => rng.uniform()),
    [1 / 2, 1 / 3, 1 / 4, 1 / 5],
    [0.29, 0.3, 0.29, 0.27],
  );
  close(
    moments(() => rng.normal()),
    [0, 1, 0, 3],
    [1, 1.42, 3.88, 9.8],
  );
  const draws = Array.from({ length: count }, () => rng.int(3));
  for (const value of [0, 1, 2]) {
    const seen = draws.filter((draw) => draw === value).length;
    assert.ok(Math.abs(seen - count / 3) < 5 * Math.sqrt((count * 2) / 9), `${value}: ${seen}`);
  }
  for (let i = 0; i < 100; i++) assert.ok(["x", "y"].includes(rng.pick(["x", "y"])));
  assert.throws(() => rng.pick([]), RangeError);
});
