import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type AdvantageKind, advantages } from "../../src/rl/advantages.js";
import { type AdvantageOptions, episodeCredit, type GroupEpisode } from "../../src/rl/credit.js";
import type { Objective } from "../../src/rl/objective.js";
import { objective as espo } from "../../src/rl/objectives/espo.js";
import { objective as flowGrpo } from "../../src/rl/objectives/flow-grpo.js";
import { objective as grpo } from "../../src/rl/objectives/grpo.js";
import { objective as sft } from "../../src/rl/objectives/sft.js";
import { objectiveOptions } from "../support/typed.js";

const CENTER: AdvantageOptions = { advantage: "center", adv_clip_max: 5 };

const episode = (reward: number | null, turns = 1): GroupEpisode => ({
  reward,
  turns: Array.from({ length: turns }, (_, t) => ({ steps: t + 1 })),
});

test("every turn of an episode gets the advantage of the whole episode", () => {
  const credit = episodeCredit([episode(0, 2), episode(0.5), episode(1, 3)], CENTER);
  assert.deepEqual(credit, [[-0.5, -0.5], [0], [0.5, 0.5, 0.5]]);
});

test("an episode that faulted is left out, as if it had not been played", () => {
  const credit = episodeCredit([episode(0), episode(null), episode(1), episode(null, 2)], CENTER);
  assert.deepEqual(credit, [[-0.5], null, [0.5], null]);
  const rewards = fc.array(fc.option(fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(rewards, fc.constantFrom("group", "center", "leave_one_out" as const), (all, advantage) => {
      const options = { advantage, adv_clip_max: 2 };
      const played = all.filter((reward) => reward !== null);
      const expected = advantages(played, advantage, 2);
      const group = all.map((reward) => episode(reward));
      const given = episodeCredit(group, options);
      all.forEach((reward, i) => {
        if (reward === null || expected === undefined) assert.equal(given[i], null);
      });
      const credits = given.flatMap((credit) => credit ?? []);
      if (expected !== undefined) assert.deepEqual(credits, expected);
    }),
    { seed: 4 },
  );
});

test("a group whose rewards are equal, or of which one episode is left, teaches nothing", () => {
  for (const group of [[episode(0.7), episode(0.7, 2)], [episode(1), episode(null)], [episode(null)], []])
    assert.deepEqual(episodeCredit(group, CENTER), Array(group.length).fill(null));
});

test("objectives give credit by their own kind of advantage; sft gives none", () => {
  const group = [episode(0), episode(0.25), episode(1)];
  for (const objective of [flowGrpo, grpo, espo] as readonly Objective[]) {
    const advantage: AdvantageKind = objective.name === "espo" ? "leave_one_out" : "group";
    const options = objectiveOptions(objective) as typeof CENTER;
    assert.deepEqual(objective.credit(group, options), episodeCredit(group, { ...options, advantage }), objective.name);
  }
  const clipped = espo.credit(group, objectiveOptions(espo, { adv_clip_max: 0.5, advantage: "center" }));
  const mean = 1.25 / 3;
  assert.deepEqual(clipped, [[0 - mean], [0.25 - mean], [0.5]]);
  assert.deepEqual(sft.credit(group, objectiveOptions(sft)), [null, null, null]);
});

const earned = (reward: number, ...turns: number[]): GroupEpisode => ({
  reward,
  turns: turns.map((own) => ({ steps: 1, reward: own })),
});
const near = (given: readonly (readonly unknown[] | null)[], expected: readonly (readonly number[])[]): void => {
  const actual = given.map((credit) => credit?.map((value) => Math.round((value as number) * 1e9) / 1e9));
  assert.deepEqual(actual, expected);
};

test("a discount counts a reward at the end less for the turns before it", () => {
  near(episodeCredit([episode(0, 3), episode(1)], { ...CENTER, discount: 0.5 }), [[-0.125, -0.25, -0.5], [0.5]]);
});

test("credit a turn compares what was earned from a turn on, by hand", () => {
  // returns at gamma .5: [1 + .5 (0 + .5 1), .5, 1] = [1.25, .5, 1] and [0 + .5 1, 1]; the third episode faulted
  const group = [earned(0.4, 1, 0, 1), earned(0.9, 0, 1), { ...episode(null, 2) }];
  const given = episodeCredit(group, { ...CENTER, turn_credit: "turn", discount: 0.5 });
  assert.equal(given[2], null);
  // turn 1: mean .875; turn 2: mean .75; only one episode has a turn 3, so that it has no comparison
  near(given.slice(0, 1), [[0.375, -0.25, 0]]);
  near(given.slice(1, 2), [[-0.375, 0.25]]);
});

test("credit a turn: without rewards of turns the last one has the episode's", () => {
  const options = { ...CENTER, turn_credit: "turn", discount: 0.5 } as const;
  const credits = [0.25, 0.5];
  const opposite = credits.map((credit) => -credit);
  near(episodeCredit([episode(1, 2), episode(0, 2)], options), [credits, opposite]);
  assert.deepEqual(episodeCredit([earned(0.2, 1, 0), earned(0.9, 1, 0)], options), [null, null]);
});

test("every objective whose credit is an advantage has both options", () => {
  const group = [earned(0, 0, 1), earned(1, 1, 0)];
  for (const objective of [flowGrpo, grpo, espo] as readonly Objective[]) {
    const options = objectiveOptions(objective, { turn_credit: "turn", advantage: "center" });
    near(objective.credit(group, options), [
      [0, 0.5],
      [0, -0.5],
    ]);
  }
});
