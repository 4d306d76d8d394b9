import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunConfig } from "../../../src/config/config.js";
import { Rng } from "../../../src/core/rng.js";
import type { Policy } from "../../../src/engine/policy.js";
import type { EnvironmentTask } from "../../../src/env/environment.js";
import { objective } from "../../../src/rl/objectives/flow-grpo.js";
import { localExecutor } from "../../../src/train/executor.js";
import { creditOf, PlayedGroups, recordOf } from "../../../src/train/rollouts/group-source.js";
import { withCredit } from "../../../src/train/rollouts/groups.js";
import { fakeEnvironment, trainTask } from "../../support/fake-environment.js";
import { plainTrajectory } from "../../support/plain-trajectory.js";
import { only } from "../../support/typed.js";

const TASKS = ["a", "b", "c", "d"].map(trainTask);

/** The part of a sampler that the source uses: a response has two steps and counts its tokens. */
const sampler = {
  steps: () => 2,
  policy: { units: ({ response }: { response: readonly number[] }) => response.length },
};

/** Makes a source whose k-th rollout in a task's group gets the reward that `reward` returns. */
function source(dynamic: boolean, reward: (task: string, k: number) => number, drawn = 0) {
  const streams: Rng[] = [];
  const config = only<RunConfig>({
    seed: 5,
    objective: { kind: "flow-grpo", kl_coeff: 0, advantage: "center", adv_clip_max: 5 },
    training: { prompts_per_step: 3, group_size: 2, dynamic_sampling: dynamic, rollout_batch: 4 } as never,
  });
  let next = 0;
  const policy = only<Policy>({
    startOf: () => [1],
    actionOf: (t: { response: readonly number[] }) => ({ text: `submit ${t.response[0]}` }),
    options: {},
    rounds: {},
    sampler: {
      ...sampler,
      rollout: async (_: unknown, starts: readonly number[][], __: unknown, rngs: readonly Rng[]) => {
        streams.push(...rngs);
        return starts.map((start) => plainTrajectory(start, [next++, 0]));
      },
    },
  });
  const environment = fakeEnvironment(TASKS, async (t: EnvironmentTask, act) => {
    const { text = "" } = await act({ text: t.id });
    return { reward: reward(t.id, Number(text.split(" ")[1]) % 2), success: false, metrics: {}, detail: {} };
  });
  const episodes: [number, number][] = [];
  const { objective: options, training, seed } = config;
  const executor = localExecutor(policy, environment);
  const context = { policy, objective, options, size: 2, training, seed, executor };
  const played = new PlayedGroups(context, { cursor: drawn }, (done, all) => episodes.push([done, all]));
  const groups = {
    get drawn() {
      return played.drawn;
    },
    async collect(step: number) {
      const collected = await played.collect(step);
      return { ...collected, groups: collected.groups.map((group) => withCredit(group, creditOf(context, group))) };
    },
  };
  return { groups, streams, episodes };
}

/** Lists the tasks in the order in which they are drawn. */
function order(count: number): string[] {
  const epochs = [0, 1, 2].flatMap((epoch) => Rng.named(5, `tasks/${epoch}`).shuffle(TASKS.map((t) => t.id)));
  return epochs.slice(0, count);
}

test("a step plays a group for each of its tasks, every rollout with a stream of its own", async () => {
  const { groups, streams, episodes } = source(false, (_, k) => k);
  const step = await groups.collect(7);
  assert.deepEqual(
    step.groups.map((g) => g.rollouts.map((r) => [r.record.task_id, r.record.step, r.record.group, r.record.rollout])),
    order(3).map((id, g) => [0, 1].map((r) => [id, 7, g, r])),
  );
  for (const { credit } of step.groups) assert.deepEqual(credit, [[-0.5], [0.5]]);
  assert.deepEqual(
    streams.map((rng) => rng.state()),
    [0, 1, 2, 3, 4, 5].map((i) => Rng.named(5, `rollout/7/0/${i}`).state()),
  );
  assert.deepEqual([step.episodes, groups.drawn, episodes.length], [6, 3, 6]);
  assert.deepEqual(episodes.at(-1), [6, 6]);
});

test("without dynamic sampling a group that carries no signal stays as it is", async () => {
  const { groups } = source(false, () => 0.5);
  const step = await groups.collect(1);
  assert.deepEqual([step.groups.length, step.groups.some((g) => g.signal), groups.drawn], [3, false, 3]);
});

test("dynamic sampling draws as many further tasks as carried no signal, and stops at enough", async () => {
  const drawn = order(5);
  // the first and the third group carry no signal; of those drawn in their place one does
  const dull = new Set([drawn[0], drawn[2]]);
  const { groups, streams } = source(true, (id, k) => (dull.has(id) ? 1 : k));
  const step = await groups.collect(2);
  for (const [i, { rollouts, signal }] of step.groups.entries()) {
    assert.equal(rollouts[0]?.record.group, i);
    if (i < 5) assert.deepEqual([rollouts[0]?.record.task_id, signal], [drawn[i], !dull.has(drawn[i])]);
  }
  assert.equal(step.groups.filter((g) => g.signal).length, 3);
  assert.equal(groups.drawn, step.groups.length);
  assert.equal(step.episodes, 2 * step.groups.length);
  // a redrawn group has separate streams
  assert.deepEqual(streams[6]?.state(), Rng.named(5, "rollout/2/1/0").state());
});

test("dynamic sampling gives up after three redraws", async () => {
  const { groups } = source(true, () => 1);
  const step = await groups.collect(1);
  assert.deepEqual([step.groups.length, groups.drawn, step.episodes], [12, 12, 24]);
});

test("a resumed source goes on with the task after the last one drawn", async () => {
  const { groups } = source(false, (_, k) => k, 3);
  const step = await groups.collect(2);
  const actual = step.groups.map((g) => g.rollouts[0]?.record.task_id);
  assert.deepEqual(actual, order(6).slice(3));
});

test("an episode is recorded turn by turn, with what it was worth and what the environment keeps of it", () => {
  const trajectories = [plainTrajectory([1], [0, 1, 0]), plainTrajectory([2], [1])];
  const turns = trajectories.map((trajectory, t) => {
    return { observation: { text: `page ${t}` }, trajectory, action: { text: `plan ${t}` } };
  });
  const worth = { reward: 0.7, success: true, metrics: { field_accuracy: 0.2 }, detail: { accepted: true } };
  const outcome = { ...worth, turnRewards: [0.3, 0.4] };
  const place = { step: 3, group: 1, rollout: 2 };
  const task = trainTask("t/1");
  const policy = only<Policy>({ sampler });
  assert.deepEqual(recordOf({ task, turns, outcome }, place, policy), {
    format: 2,
    ...place,
    ...worth,
    ...{ task_id: "t/1", form: "f", advantage: null, fault: null, tokens: 4 },
    turns: [
      { prompt: "page 0", response: "plan 0", reward: 0.3, trajectory: trajectories[0] },
      { prompt: "page 1", response: "plan 1", reward: 0.4, trajectory: trajectories[1] },
    ],
  });
  // a fault has neither a reward nor metrics
  const { turnRewards: _, ...failed } = { ...outcome, reward: null, fault: "timeout" };
  const faulted = recordOf({ task, turns, outcome: failed }, place, policy);
  assert.deepEqual([faulted.reward, faulted.metrics, faulted.fault], [null, null, "timeout"]);
  assert.ok(faulted.turns.every((turn) => !("reward" in turn)));
});
