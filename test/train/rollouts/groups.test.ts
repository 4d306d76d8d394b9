import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import type { UnmaskTrajectory } from "../../../src/diffusion/samplers/unmask/trajectory.js";
import { episodeCredit, type GroupEpisode, type TurnCredit } from "../../../src/rl/credit.js";
import {
  episodesOf,
  type Group,
  recordsOf,
  type Sampled,
  samplesOf,
  TaskCursor,
  withCredit,
} from "../../../src/train/rollouts/groups.js";
import { plainTrajectory } from "../../support/plain-trajectory.js";
import { rolloutRecord } from "../../support/rollout-record.js";

/** Makes an episode of `turns` turns, whose responses begin with `token`, `token` + 1, ... */
const sampled = (reward: number | null, token = 0, turns = 1): Sampled => ({
  trajectories: Array.from({ length: turns }, (_, t) => plainTrajectory([1], [token + t, 1])),
  record: rolloutRecord({ reward, turns: Array.from({ length: turns }, () => ({ prompt: "p", response: "r" })) }),
});

type Credit = (group: readonly GroupEpisode[]) => readonly (readonly TurnCredit[] | null)[];
const advantage =
  (kind: "center" | "group", clip = 5): Credit =>
  (group) =>
    episodeCredit(group, { advantage: kind, adv_clip_max: clip });
const grouped = (rollouts: readonly Sampled[], credit: Credit = advantage("center")): Group =>
  withCredit(rollouts, credit(episodesOf(rollouts, (trajectory) => (trajectory as UnmaskTrajectory).rounds.length)));
const firstToken = (trajectory: object): number | undefined => (trajectory as UnmaskTrajectory).response[0];

describe("a group", () => {
  it("gives every rollout the advantage of its own reward, and none to one whose environment failed", () => {
    // the mean of the four rewards is .5
    const rollouts = [null, 1, 0.2, null, 0.8, 0].map((reward) => sampled(reward));
    const group = grouped(rollouts);
    assert.equal(group.signal, true);
    assert.equal(group.rollouts, rollouts);
    const expected = [null, [0.5], [-0.3], null, [0.3], [-0.5]];
    const rounded = group.credit.map((credit) => credit?.map((x) => Math.round((x as number) * 1e12) / 1e12) ?? null);
    assert.deepEqual(rounded, expected);
    assert.deepEqual(grouped([sampled(0), sampled(1)], advantage("center", 0.25)).credit, [[-0.25], [0.25]]);
  });

  it("carries no signal where the rewards that are left are equal, or fewer than two", () => {
    for (const rewards of [[0.6, 0.6], [1, null], Array(2).fill(null), [0.6, null, 0.6]]) {
      const rollouts = rewards.map((reward) => sampled(reward));
      const group = grouped(rollouts, advantage("group"));
      assert.deepEqual([group.signal, group.credit], [false, rewards.map(() => null)]);
      assert.deepEqual(samplesOf([group], 0, 1), []);
    }
  });

  it("gives each turn the parts of its own answer, with the tokens whose text begins in them", () => {
    const turn = (name: string, start: number, end: number) => {
      return { prompt: "p", response: "r", parts: [{ name, reward: 1, start, end }] };
    };
    const record = rolloutRecord({ reward: 1, turns: [turn("a", 0, 3), turn("b", 3, 9)] });
    const begins = () => [0, 3, 6];
    const [episode] = episodesOf([{ ...sampled(1, 0, 2), record }], () => 1, begins);
    const given = episode?.turns.map(({ parts, tokens }) => ({ tokens, parts }));
    const wanted = [{ tokens: [0] }, { tokens: [1, 2] }].map((of, i) => {
      return { tokens: 3, parts: [{ name: "ab"[i], reward: 1, ...of }] };
    });
    assert.deepEqual(given, wanted);
  });

  it("shows the objective each turn's steps, its own reward and the rewards of its drafts, where there are any", () => {
    let seen: readonly GroupEpisode[] = [];
    const answer = { prompt: "p", response: "r" };
    const record = rolloutRecord({ reward: 0.75, turns: [{ ...answer, reward: 0.25 }, answer] });
    const trajectories = [plainTrajectory([1], [0, 1]), plainTrajectory([1], [1])];
    const drafts = [[0.1, 0.2], [0.75]];
    const group = grouped([{ record, trajectories, drafts }, sampled(null)], (episodes) => {
      seen = episodes;
      return [[[0.5, -0.5], 2], null];
    });
    const turns = [
      { steps: 2, reward: 0.25, drafts: [0.1, 0.2] },
      { steps: 2, drafts: [0.75] },
    ] as const;
    const failed = { reward: null, success: false, turns: [{ steps: 2 }] };
    assert.deepEqual(seen, [{ reward: 0.75, success: false, turns }, failed]);
    assert.deepEqual(group.credit, [[[0.5, -0.5], 2], null]);
  });

  it("shows the objective what parts of an answer earned, with the tokens that begin in them", () => {
    const two = <T>(...of: T[]) => of.map((more, i) => ({ name: "ab"[i] as string, reward: 1 - i, ...more }));
    const parts = two({ start: 0, end: 4 }, { start: 4, end: 9 });
    const record = rolloutRecord({ reward: 0.5, turns: [{ prompt: "p", response: "abcdefghij", parts }] });
    const trajectories = [plainTrajectory([1], [0, 0, 0, 0, 1])];
    const rollouts = [{ record, trajectories }];
    const begins = () => [0, 3, 5, 8, 9];
    const seen = episodesOf(rollouts, () => 2, begins);
    const group = withCredit(rollouts, [[{ tokens: [1, 1, -1, -1, 0] }]]);
    const wanted = two({ tokens: [0, 1] }, { tokens: [2, 3] });
    assert.deepEqual(seen[0]?.turns, [{ steps: 2, tokens: 5, parts: wanted }]);
    assert.deepEqual(recordsOf(1, [group])[0]?.credit, [{ tokens: [1, 1, -1, -1, 0] }]);
  });

  it("is trained on by the turns of the rollouts that have credit, each with its own", () => {
    const groups = [
      grouped([sampled(0, 10), sampled(null, 11), sampled(1, 12, 3)]),
      grouped([sampled(0, 20), sampled(0, 21)]),
      grouped([sampled(0.4, 30), sampled(0, 31)]),
      grouped([sampled(1, 40, 2)], () => [[0.5, [1, -1]]]),
    ];
    const samples = samplesOf(groups, 0, 1).map(({ trajectory, credit }) => `${firstToken(trajectory)}: ${credit}`);
    // 12, 13 and 14 are the three turns of one episode
    const first = ["10: -0.5", "12: 0.5", "13: 0.5", "14: 0.5", "30: 0.2", "31: -0.2"];
    assert.deepEqual(samples, [...first, "40: 0.5", "41: 1,-1"]);
  });
});

describe("the random streams of samples", () => {
  const groups = [
    grouped([sampled(0, 10, 2), sampled(null), sampled(1, 12)]),
    grouped([sampled(0), sampled(0)]),
    grouped([sampled(0.4, 30), sampled(0, 31)]),
  ];
  const states = (some: readonly Group[], seed: number, step: number, name = "layout"): unknown[] =>
    samplesOf(some, seed, step).map(({ stream }) => stream(name).state());

  it("are each sample's own: of the seed, the step, what they are for, and the place in the step", () => {
    const places = ["0/0/0", "0/0/1", "0/2/0", "2/0/0", "2/1/0"];
    const expected = places.map((place) => Rng.named(7, `layout/3/${place}`).state());
    assert.deepEqual(states(groups, 7, 3), expected);
    const others = [...states(groups, 8, 3), ...states(groups, 7, 4), ...states(groups, 7, 3, "mask-noise")];
    const all = [...states(groups, 7, 3), ...others];
    assert.equal(new Set(all.map((state) => JSON.stringify(state))).size, all.length);
  });

  it("begin again each time they are asked for, whatever other samples have drawn", () => {
    const [first, second] = samplesOf(groups, 7, 3);
    const drawn = first?.stream("layout").uniform();
    second?.stream("layout").uniform();
    assert.equal(first?.stream("layout").uniform(), drawn);
    assert.notEqual(second?.stream("layout").uniform(), drawn);
  });
});

describe("the walk through the tasks", () => {
  const tasks = ["a", "b", "c", "d", "e"];
  const cursor = (drawn: number): TaskCursor<string> =>
    new TaskCursor(tasks, (epoch) => Rng.named(3, `tasks/${epoch}`), drawn);
  const take = (from: TaskCursor<string>, count: number): string[] => Array.from({ length: count }, () => from.next());

  it("takes every task once an epoch, in an order of its own", () => {
    const walked = take(cursor(0), 20);
    const epochs = [0, 5, 10, 15].map((start) => walked.slice(start, start + 5));
    for (const epoch of epochs) assert.deepEqual([...epoch].sort(), tasks);
    assert.equal(new Set(epochs.map((epoch) => epoch.join())).size, 4);
    assert.deepEqual(epochs[2], Rng.named(3, "tasks/2").shuffle(tasks));
  });

  it("goes on from the number of tasks drawn", () => {
    const walked = take(cursor(0), 17);
    for (let drawn = 0; drawn < 12; drawn++) {
      const resumed = cursor(drawn);
      assert.deepEqual(take(resumed, 5), walked.slice(drawn, drawn + 5));
      assert.equal(resumed.drawn, drawn + 5);
    }
  });
});

it("the lines of a step carry the credit that it was trained with: one number where all parts got the same", () => {
  const of = (task_id: string, reward: number | null, turns = 1): Sampled => {
    const { trajectories, record } = sampled(reward, 0, turns);
    return { trajectories, record: { ...record, task_id } };
  };
  const given: readonly (readonly TurnCredit[])[] = [[0.5, [1, -1]], [[2]], [3, 3]];
  const groups = [
    grouped([of("a", 0), of("a", null), of("a", 1, 2)]),
    grouped([of("b", 1), of("b", 1)]),
    grouped([of("c", 1, 2), of("c", 0), of("c", 0, 2)], () => given),
  ];
  const lines = recordsOf(9, groups).map(({ step, task_id, reward, advantage, credit }) =>
    JSON.stringify([step, task_id, reward, advantage, ...(credit === undefined ? [] : [credit])]),
  );
  assert.deepEqual(lines, [
    '[9,"a",0,-0.5]',
    '[9,"a",null,null]',
    '[9,"a",1,0.5]',
    ...Array(2).fill('[9,"b",1,null]'),
    '[9,"c",1,null,[0.5,[1,-1]]]',
    '[9,"c",0,null,[[2]]]',
    '[9,"c",0,3]',
  ]);
});
