import assert from "node:assert/strict";
import { test } from "node:test";
import { objective as wd1 } from "../../../src/features/objectives/objectives/wd1.js";
import { objectiveOptions } from "../../support/typed.js";

const episodes = (...rewards: (number | null)[]) => rewards.map((reward) => ({ reward, turns: [{ steps: 1 }] }));

test("weights are G times the softmax of the good less that of the bad, and add up to 0", () => {
  const credit = wd1.credit(episodes(1, null, 0, 0.5), objectiveOptions(wd1, { psi: 2 })) as (number[] | null)[];
  const good = [Math.exp(2), 1, Math.exp(1)];
  const bad = good.map((x) => 1 / x);
  const sum = (xs: readonly number[]): number => xs.reduce((a, x) => a + x, 0);
  const expected = good.map((x, i) => 3 * (x / sum(good) - (bad[i] as number) / sum(bad)));
  assert.equal(credit[1], null);
  const given = [0, 2, 3].map((i) => credit[i]?.[0] as number);
  given.forEach((x, i) => {
    assert.ok(Math.abs(x - (expected[i] as number)) < 1e-12);
  });
  assert.ok(Math.abs(sum(given)) < 1e-12);
});

test("equal rewards teach nothing", () => {
  assert.deepEqual(wd1.credit(episodes(0.5, 0.5), objectiveOptions(wd1)), [null, null]);
});
