import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { eosAllowedSlots, revealSchedule, selectSlots } from "../../../../src/diffusion/samplers/unmask/slots.js";

const slot = fc.record({ score: fc.integer({ min: 0, max: 5 }), wantsEos: fc.boolean(), open: fc.boolean() });
const canvas = fc.array(slot, { minLength: 1, maxLength: 10 });

type Slot = typeof slot extends fc.Arbitrary<infer T> ? T : never;

function choose(slots: readonly Slot[], budget: number): boolean[] {
  const [scores, wants] = [slots.map((s) => s.score), slots.map((s) => s.wantsEos)];
  const open = slots.map((s) => s.open);
  return selectSlots(scores, wants, open, budget);
}

test("the schedule reveals every slot once, in at most T rounds, as the formula says", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 100 }), (slots, rounds) => {
      const schedule = revealSchedule(slots, rounds);
      assert.equal(schedule.length, Math.min(slots, rounds));
      assert.ok(schedule.every((n) => n > 0 && n <= Math.ceil(slots / rounds)));
      const actual = schedule.reduce((a, b) => a + b);
      assert.equal(actual, slots);
    }),
  );
  assert.deepEqual(revealSchedule(16, 8), [2, 2, 2, 2, 2, 2, 2, 2]);
  assert.deepEqual(revealSchedule(5, 2), [2, 3]);
  assert.deepEqual(revealSchedule(3, Number.MAX_SAFE_INTEGER), [1, 1, 1]);
});

test("a round spends its whole budget on open slots; a slot that wants EOS never leaves a hole", () => {
  fc.assert(
    fc.property(canvas, fc.integer({ min: 1, max: 10 }), (slots, budget) => {
      const open = slots.map((s) => s.open);
      const selected = choose(slots, budget);
      assert.equal(selected.filter(Boolean).length, Math.min(budget, open.filter(Boolean).length));
      selected.forEach((taken, i) => {
        if (!taken) return;
        assert.ok(open[i]);
        if (slots[i]?.wantsEos) assert.ok(!open.some((isOpen, j) => j < i && isOpen && !selected[j]));
      });
    }),
  );
});

test("slots are taken by score, the lower one on a tie", () => {
  const open = [true, true, true, true];
  const none = [false, false, false, false];
  assert.deepEqual(selectSlots([1, 3, 2, 3], none, open, 1), [false, true, false, false]);
  assert.deepEqual(selectSlots([1, 3, 2, 3], none, open, 2), [false, true, false, true]);
  // slot 1 proposes EOS and must wait for slot 0 despite its score
  assert.deepEqual(selectSlots([1, 9, 2, 3], [false, true, false, false], open, 2), [false, false, true, true]);
  assert.deepEqual(selectSlots([4, 9, 2, 3], [false, true, false, false], open, 2), [true, true, false, false]);
});

test("EOS is allowed exactly where nothing stays open to the left and nothing is committed to the right", () => {
  fc.assert(
    fc.property(canvas, fc.integer({ min: 1, max: 10 }), (slots, budget) => {
      const open = slots.map((s) => s.open);
      const selected = choose(slots, budget);
      const expected = open.map(
        (_, i) =>
          selected[i] === true &&
          open.every((isOpen, j) => (j < i ? !isOpen || selected[j] === true : true)) &&
          open.every((isOpen, j) => (j > i ? isOpen : true)),
      );
      assert.deepEqual(eosAllowedSlots(open, selected), expected);
    }),
  );
});
