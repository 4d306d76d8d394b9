import assert from "node:assert/strict";
import { test } from "node:test";
import { allOutcomes } from "../../src/diffusion/outcomes.js";

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
