import assert from "node:assert/strict";
import { test } from "node:test";
import { stepCredit, stepGains } from "../../../src/features/objectives/objectives/mdpo.js";
import type { GroupEpisode, TurnCredit } from "../../../src/rl/credit.js";

const options = { top_steps: 8, adv_clip_max: 5 };
const episode = (reward: number | null, ...turns: number[][]): GroupEpisode => ({
  reward,
  turns: turns.map((drafts) => ({ steps: drafts.length, drafts })),
});
const numbers = (credit: readonly TurnCredit[] | null | undefined): number[] => (credit ?? []).flat() as number[];

test("a step's gain: what it added, 1, and the mean reward behind it", () => {
  const gains = stepGains([0.2, 0.5, 0.4]);
  [0.2 + 1 + 0.45, 0.3 + 1 + 0.4, -0.1 + 1].forEach((x, t) => {
    assert.ok(Math.abs((gains[t] as number) - x) < 1e-12);
  });
  assert.deepEqual(stepGains([]), []);
  assert.deepEqual(stepGains([0.7]), [1.7]);
});

test("credit is normalised over the group at each step, so that it adds up to 0 there", () => {
  const credit = stepCredit([episode(1, [0, 1]), episode(0, [0, 0]), episode(0.5, [0.5, 0.5])], options);
  for (const t of [0, 1]) {
    const at = credit.map((of) => numbers(of)[t] as number);
    assert.ok(Math.abs(at.reduce((a, x) => a + x, 0)) < 1e-6);
    assert.ok(at.some((x) => x > 0.5));
  }
  // gains 1, 0, .5 + .5 = 1 and 2, 1, 1 over 1: the last step of the first episode is the best
  assert.ok((numbers(credit[0])[1] as number) > (numbers(credit[2])[1] as number));
});

test("an episode that ended early has no later steps to compare: the others' are compared among themselves", () => {
  const credit = stepCredit([episode(1, [1]), episode(0.5, [0, 0.5]), episode(0, [0, 0])], options);
  assert.equal(numbers(credit[0]).length, 1);
  const later = [numbers(credit[1])[1] as number, numbers(credit[2])[1] as number];
  assert.ok((later[0] as number) > 0 && Math.abs((later[0] as number) + (later[1] as number)) < 1e-6);
});

test("only the steps of largest credit have any", () => {
  const group = [episode(1, [0, 1, 1]), episode(0, [0, 0, 0.1]), episode(0, [0.2, 0, 0])];
  const all = stepCredit(group, options).map(numbers);
  const one = stepCredit(group, { ...options, top_steps: 1 }).map(numbers);
  one.forEach((credit, i) => {
    const kept = credit.flatMap((a, t) => (a === 0 ? [] : [t]));
    assert.equal(kept.length, 1);
    const t = kept[0] as number;
    assert.equal(credit[t], all[i]?.[t]);
    assert.ok(all[i]?.every((a) => Math.abs(a) <= Math.abs(credit[t] as number)));
  });
});

test("faulted episodes and groups that teach nothing are left out; credit is clipped", () => {
  assert.deepEqual(stepCredit([episode(0.5, [0.5]), episode(0.5, [0.5])], options), [null, null]);
  const credit = stepCredit([episode(null, [1]), episode(1, [1]), episode(0, [0])], { ...options, adv_clip_max: 0.1 });
  assert.deepEqual(credit, [null, [[0.1]], [[-0.1]]]);
});

test("episodes without drafts, as recorded ones are, are refused with what to do", () => {
  const group = [{ reward: 1, turns: [{ steps: 3 }] }];
  assert.throws(() => stepCredit(group, { top_steps: 8, adv_clip_max: 5 }), { name: "UserError", hint: /--rollouts/ });
});
