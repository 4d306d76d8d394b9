import assert from "node:assert/strict";
import { test } from "node:test";
import type { GroupEpisode, TurnPart } from "../../src/rl/credit.js";
import { objective } from "../../src/rl/objectives/flow-grpo.js";
import { partCredit } from "../../src/rl/part-credit.js";

const CENTER = { advantage: "center", adv_clip_max: 5 } as const;
const part = (name: string, reward: number, ...tokens: number[]): TurnPart => ({ name, reward, tokens });
/** Makes an episode of one turn with a number of tokens. */
const episode = (reward: number | null, tokens: number, ...parts: TurnPart[]): GroupEpisode => ({
  reward,
  turns: [{ steps: 1, tokens, parts }],
});
const credits = (group: readonly GroupEpisode[], options = {}): unknown[] =>
  partCredit(group, { ...CENTER, ...options }).map((turns) =>
    turns?.map((t) => (typeof t === "object" && "tokens" in t ? t.tokens : t)),
  );

test("a token gets what its attempt has over the others at the same part; the rest what the episode has, by hand", () => {
  const group = [
    episode(1, 4, part("name", 1, 0, 1), part("age", 1, 2)),
    episode(0.5, 5, part("age", 0, 1), part("name", 1, 3)),
    episode(null, 2, part("name", 0, 0)),
  ];
  // the rewards' mean is .75; the part `name` has 1 and 1, the part `age` 1 and 0
  assert.deepEqual(credits(group), [[[0, 0, 0.5, 0.25]], [[-0.25, -0.5, -0.25, 0, -0.25]], undefined]);
});

test("an episode without an attempt counts as 0, and each of several attempts by itself", () => {
  const group = [episode(0.5, 1, part("a", 1, 0)), episode(0.5, 1), episode(0.5, 2, part("a", 1, 0), part("a", 0, 1))];
  // equal rewards; the part `a` has 1 in one episode, none in another, 1 and 0 in the third: mean .5
  assert.deepEqual(credits(group), [[[0.5]], [[0]], [[0.5, -0.5]]]);
});

test("success_weight adds the advantage of the whole task's success to every attempt, by hand", () => {
  const won = { ...episode(1, 2, part("a", 1, 0)), success: true };
  const lost = { ...episode(0.5, 2, part("a", 1, 0)), success: false };
  // centred: success .5 and -.5, the rewards .25 and -.25, the part `a` 0 and 0
  assert.deepEqual(credits([won, lost], { success_weight: 2 }), [[[1, 0.25]], [[-1, -0.25]]]);
  assert.deepEqual(credits([won, lost]), [[[0, 0.25]], [[0, -0.25]]]);
});

test("no signal where neither rewards nor attempts differ; turns without parts keep the episode's credit", () => {
  assert.deepEqual(credits([episode(1, 1, part("a", 1, 0)), episode(1, 1, part("a", 1, 0))]), [undefined, undefined]);
  const plain = (reward: number): GroupEpisode => ({ reward, turns: [{ steps: 2 }, { steps: 2 }] });
  assert.deepEqual(credits([plain(1), plain(0)], { discount: 0.5 }), [
    [0.25, 0.5],
    [-0.25, -0.5],
  ]);
  assert.deepEqual(credits([]), []);
});

test("turns are compared with those of the same number", () => {
  const turns = (...rewards: number[]): GroupEpisode => ({
    reward: 1,
    turns: rewards.map((reward) => ({ steps: 1, tokens: 1, parts: [part("a", reward, 0)] })),
  });
  assert.deepEqual(credits([turns(1, 0), turns(0)]), [[[0.5], [0]], [[-0.5]]]);
});

test("flow-grpo takes it with ratios a token, and only with them", () => {
  const given = objective.schema.parse({ advantage: "center", turn_credit: "part", ratio_level: "token" });
  const group = [episode(1, 1, part("a", 1, 0)), episode(0, 1, part("a", 0, 0))];
  assert.deepEqual(objective.credit(group, given as Parameters<typeof objective.credit>[1]), [
    [{ tokens: [0.5] }],
    [{ tokens: [-0.5] }],
  ]);
  assert.match(String(objective.schema.safeParse({ turn_credit: "part" }).error), /needs ratio_level: token/);
  assert.match(String(objective.schema.safeParse({ success_weight: 1 }).error), /needs turn_credit: part/);
});
