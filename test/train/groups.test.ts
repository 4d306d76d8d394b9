import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Rng } from "../../src/core/rng.js";
import {
  type Group,
  type Half,
  makeGroup,
  recordsOf,
  type Sampled,
  samplesOf,
  TaskCursor,
} from "../../src/train/groups.js";
import { plainTrajectory } from "../support/plain-trajectory.js";

const sampled = (reward: number | null, token = 0): Sampled => ({
  trajectory: plainTrajectory([1], [token, 1]),
  record: { reward } as Sampled["record"],
});

describe("a group", () => {
  it("gives every rollout the advantage of its own reward, and none to one whose environment failed", () => {
    // mean of the four real rewards .5
    const rollouts = [null, 1, 0.2, null, 0.8, 0].map((reward) => sampled(reward));
    const group = makeGroup(rollouts, "center", 5);
    assert.equal(group.signal, true);
    assert.equal(group.rollouts, rollouts);
    const expected = [null, 0.5, -0.3, null, 0.3, -0.5];
    group.advantages.forEach((advantage, i) => {
      const wanted = expected[i] as number | null;
      if (wanted === null) assert.equal(advantage, null);
      else assert.ok(Math.abs((advantage as number) - wanted) < 1e-12, `${i}: ${advantage}`);
    });
    assert.deepEqual(makeGroup([sampled(0), sampled(1)], "center", 0.25).advantages, [-0.25, 0.25]);
  });

  it("carries no signal where the rewards that are left are equal, or fewer than two", () => {
    for (const rewards of [
      [0.6, 0.6],
      [1, null],
      [null, null],
      [0.6, null, 0.6],
    ]) {
      const group = makeGroup(
        rewards.map((reward) => sampled(reward)),
        "group",
        5,
      );
      assert.deepEqual([group.signal, group.advantages], [false, rewards.map(() => null)]);
      assert.deepEqual(samplesOf([group]), []);
    }
  });

  it("is trained on by the rollouts that have an advantage, each with its own, in the half of its group", () => {
    const groups: Group[] = [
      makeGroup([sampled(0, 10), sampled(null, 11), sampled(1, 12)], "center", 5),
      makeGroup([sampled(0, 20), sampled(0, 21)], "center", 5),
      makeGroup([sampled(0.4, 30), sampled(0, 31)], "center", 5),
    ];
    const plain = samplesOf(groups);
    assert.deepEqual(
      plain.map((s) => [s.trajectory.response[0], s.advantage]),
      [
        [10, -0.5],
        [12, 0.5],
        [30, 0.2],
        [31, -0.2],
      ],
    );
    assert.ok(plain.every((s) => !("half" in s)));
    const halves = new Map<Group, Half>([
      [groups[0] as Group, 1],
      [groups[2] as Group, 0],
    ]);
    assert.deepEqual(
      samplesOf(groups, halves).map((s) => s.half),
      [1, 1, 0, 0],
    );
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

it("the lines of a step carry the advantages that it was trained with", () => {
  const sampled = (task_id: string, reward: number | null) => ({
    trajectory: plainTrajectory([1], [0]),
    record: { task_id, reward } as Sampled["record"],
  });
  const groups = [
    makeGroup([sampled("a", 0), sampled("a", null), sampled("a", 1)], "center", 5),
    makeGroup([sampled("b", 1), sampled("b", 1)], "center", 5),
  ];
  assert.deepEqual(
    recordsOf(9, groups).map(({ step, task_id, reward, advantage }) => [step, task_id, reward, advantage]),
    [
      [9, "a", 0, -0.5],
      [9, "a", null, null],
      [9, "a", 1, 0.5],
      [9, "b", 1, null],
      [9, "b", 1, null],
    ],
  );
});
