import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../src/core/rng.js";
import { allOutcomes } from "../support/outcomes.js";

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

test("draws of a normal number have its moments, each within five standard errors; nothing is picked from nothing", () => {
  const rng = Rng.named(4, "moments");
  const draws = Array.from({ length: 20_000 }, () => rng.normal());
  const errors = [1, 1.42, 3.88, 9.8];
  for (const [i, expected] of [0, 1, 0, 3].entries()) {
    const [power, error] = [i + 1, errors[i] as number];
    const moment = draws.reduce((sum, x) => sum + x ** power, 0) / draws.length;
    assert.ok(Math.abs(moment - expected) < (5 * error) / Math.sqrt(draws.length), `moment ${power}: ${moment}`);
  }
  assert.throws(() => rng.pick([]), RangeError);
});

test("draws may depend on earlier ones", () => {
  const outcomes = allOutcomes((rng) => {
    const n = rng.int(3);
    return n === 0 ? "none" : `${n}/${rng.int(n + 1)}`;
  });
  const values = outcomes.map((o) => o.value);
  assert.deepEqual(values, ["none", "1/0", "1/1", "2/0", "2/1", "2/2"]);
  const total = outcomes.reduce((sum, o) => sum + o.probability, 0);
  assert.ok(Math.abs(total - 1) < 1e-12);
  assert.ok(Math.abs((outcomes[3]?.probability as number) - 1 / 9) < 1e-15);
});

test("a procedure without draws has one outcome", () => {
  const actual = allOutcomes(() => 7);
  assert.deepEqual(actual, [{ value: 7, probability: 1 }]);
});
