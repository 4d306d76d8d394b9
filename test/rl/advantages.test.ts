import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { std } from "../../src/core/statistics.js";
import { type AdvantageKind, advantages, SIGNAL_THRESHOLD } from "../../src/rl/advantages.js";
import { close } from "../support/close.js";

const KINDS: readonly AdvantageKind[] = ["group", "center", "leave_one_out"];
const rewards = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 2, maxLength: 12 });

test("each kind by hand", () => {
  const r = [0, 0.2, 1];
  const std = Math.sqrt((0.4 ** 2 + 0.2 ** 2 + 0.6 ** 2) / 3);
  close(advantages(r, "center", 5), [-0.4, -0.2, 0.6]);
  close(advantages(r, "group", 5), [-0.4 / std, -0.2 / std, 0.6 / std]);
  close(advantages(r, "leave_one_out", 5), [0 - 0.6, 0.2 - 0.5, 1 - 0.1]);
  close(advantages(r, "group", 1), [-0.4 / std, -0.2 / std, 1]);
});

test("every kind has mean 0 and keeps the order of the rewards, or carries no signal", () => {
  fc.assert(
    fc.property(rewards, fc.constantFrom(...KINDS), (r, kind) => {
      const a = advantages(r, kind, Number.POSITIVE_INFINITY);
      if (a === undefined) {
        assert.ok(std(r) < SIGNAL_THRESHOLD);
        return;
      }
      assert.ok(Math.abs(a.reduce((sum, x) => sum + x, 0)) < 1e-6 * Math.max(...a.map(Math.abs)) * a.length);
      for (let i = 1; i < r.length; i++) {
        const [dr, da] = [(r[i] as number) - (r[i - 1] as number), (a[i] as number) - (a[i - 1] as number)];
        assert.ok(dr === 0 ? Math.abs(da) < 1e-9 : da * dr >= 0);
      }
    }),
    { seed: 1 },
  );
});

test("the clip holds on both sides", () => {
  fc.assert(
    fc.property(rewards, fc.constantFrom(...KINDS), fc.double({ min: 0.01, max: 2, noNaN: true }), (r, kind, clip) => {
      for (const a of advantages(r, kind, clip) ?? []) assert.ok(Math.abs(a) <= clip);
    }),
    { seed: 2 },
  );
});

test("equal rewards, of any height, and groups of one carry no signal", () => {
  for (const kind of KINDS) {
    for (const value of [0, 0.6, 1]) assert.equal(advantages([value, value, value + 1e-9], kind, 5), undefined);
    assert.equal(advantages([1], kind, 5), undefined);
    assert.equal(advantages([], kind, 5), undefined);
    assert.notEqual(advantages([0, 1e-5], kind, 5), undefined);
  }
});
