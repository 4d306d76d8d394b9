import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import type { TokenTrajectory } from "../../../src/diffusion/trajectory.js";
import type { Policy } from "../../../src/engine/policy.js";
import type { Environment, EpisodeOutcome } from "../../../src/env/environment.js";
import { collectHere, collectRollouts } from "../../../src/train/rollouts/collect.js";
import { fakeEnvironment, trainTask } from "../../support/fake-environment.js";
import { plainTrajectory } from "../../support/plain-trajectory.js";
import { only } from "../../support/typed.js";

const TASKS = ["10", "10", "20", "20", "10"].map(trainTask);
const streams = (count = TASKS.length): Rng[] => Array.from({ length: count }, (_, i) => Rng.named(1, `rollout/${i}`));

interface Decoding {
  readonly temperature: number;
  readonly explore?: number | undefined;
}
interface Call extends Decoding {
  readonly starts: readonly (readonly number[])[];
  readonly batch: number;
}

/** Makes a policy that responds with its prompt and one draw of its stream, and a record of its calls. */
function fakePolicy(outcomes: number): { policy: Policy; calls: Call[] } {
  const calls: Call[] = [];
  const policy = only<Policy>({
    startOf: ({ text }: { text: string }) => [Number(text)],
    actionOf: (t: TokenTrajectory) => ({ text: `plan ${t.response[1]}` }),
    options: { temperature: 0.7 },
    explore: 0.1,
    evaluation: { options: { temperature: 0.7 } },
    rounds: {},
    sampler: {
      rollout: async (_: unknown, starts: number[][], options: Decoding, rngs: readonly Rng[], batch: number) => {
        assert.equal(starts.length, rngs.length);
        calls.push({ starts, temperature: options.temperature, explore: options.explore, batch });
        return starts.map((start, i) => plainTrajectory(start, [start[0] as number, (rngs[i] as Rng).int(outcomes)]));
      },
    },
  });
  return { policy, calls };
}

const outcome = (of: string): EpisodeOutcome => ({ reward: 0, success: false, metrics: {}, detail: { of } });

/** Plays episodes of one turn, whose outcome depends on the answer. */
const play: Environment["play"] = async (task, act) => outcome((await act({ text: task.id })).text ?? "");
const environment = fakeEnvironment(TASKS, play);

test("training explores, and evaluations do not", async () => {
  const { policy, calls } = fakePolicy(1000);
  const streams = TASKS.map((_, i) => String(i));
  for (const decoding of ["training", "evaluation"] as const)
    await collectHere(policy, environment)({ tasks: TASKS, seed: 1, streams, decoding, batch: 8 });
  const explored = calls.map((call) => call.explore);
  assert.deepEqual(explored, [0.1, undefined]);
});

test("every task gets the response of its own stream, whatever the batch", async () => {
  const draws = streams().map((rng) => rng.int(1000));
  for (const batch of [1, 2, 5, 8]) {
    const { policy, calls } = fakePolicy(1000);
    const { rollouts, times } = await collectRollouts(policy, environment, TASKS, streams(), { batch });
    for (const [i, { task, turns, outcome }] of rollouts.entries()) {
      assert.equal(task, TASKS[i]);
      const [plan, { id }] = [`plan ${draws[i]}`, task];
      const given = turns.map(({ trajectory, ...turn }) => ({ ...turn, of: (trajectory as TokenTrajectory).prompt }));
      assert.deepEqual(given, [{ observation: { text: id }, action: { text: plan }, of: [Number(id)] }]);
      assert.deepEqual(outcome.detail, { of: plan });
    }
    assert.equal(rollouts.length, TASKS.length);
    assert.equal(calls.length, Math.ceil(TASKS.length / batch));
    assert.ok(calls.every((call) => call.batch === batch && call.temperature === 0.7));
    assert.equal(times.episodes, 5);
  }
});

test("an environment may answer with another episode of the collection: that one was not played", async () => {
  const { policy } = fakePolicy(1);
  const played: string[] = [];
  const seen: number[] = [];
  const sharing = fakeEnvironment(TASKS, async (task, act, together) => {
    const { text = "" } = await act({ text: task.id });
    const key = `${task.id} ${text}`;
    const known = together.get(key);
    if (known !== undefined) return { ...(await known), reused: true };
    played.push(key);
    const first = Promise.resolve(outcome(key));
    together.set(key, first);
    return first;
  });
  const options = { batch: 2, temperature: 0, onEpisode: (done: number) => seen.push(done) };
  const { rollouts, times } = await collectRollouts(policy, sharing, TASKS, streams(), options);
  // equal answers to different tasks are separate episodes
  assert.deepEqual(played, ["10 plan 0", "20 plan 0"]);
  assert.equal(times.episodes, 2);
  assert.deepEqual(
    rollouts.map(({ outcome: { detail } }) => detail.of),
    TASKS.map(({ id }) => `${id} plan 0`),
  );
  assert.deepEqual(seen, [1, 2, 3, 4, 5]);
});

test("an evaluation may have a temperature of its own", async () => {
  const { policy, calls } = fakePolicy(1);
  await collectRollouts(policy, environment, TASKS, streams(), { batch: 5, temperature: 0 });
  const temperatures = calls.map((call) => call.temperature);
  assert.deepEqual(temperatures, [0]);
});

test("what breaks in the environment is the caller's to hear, and nothing is generated after it", async () => {
  const { policy, calls } = fakePolicy(1000);
  const broken = fakeEnvironment(TASKS, async (task, act) => {
    await act({ text: task.id });
    throw new Error("no browser");
  });
  await assert.rejects(collectRollouts(policy, broken, TASKS, streams(), { batch: 1 }), /no browser/);
  assert.ok(calls.length < TASKS.length, `${calls.length}`);
});

describe("episodes of several turns", () => {
  /** Number of turns of each episode, by the index of its task. */
  const TURNS = [2, 4, 1, 3];
  const tasks = TURNS.map((turns, i) => trainTask(`${i}-${turns}`));

  /** Makes an environment whose turns show the number `10 * place + turn` after `delay` ticks. */
  function turns(delay: (place: number, turn: number) => number, capacity?: number): Environment {
    const play: Environment["play"] = async (task, act) => {
      const [place, count] = task.id.split("-").map(Number) as [number, number];
      const answers: string[] = [];
      for (let turn = 0; turn < count; turn++) {
        for (let tick = delay(place, turn); tick > 0; tick--) await Promise.resolve();
        answers.push((await act({ text: String(10 * place + turn) })).text ?? "");
      }
      return outcome(answers.join());
    };
    return fakeEnvironment(tasks, play, capacity === undefined ? {} : { capacity });
  }

  const prompt = turns(() => 0);
  const starts = (calls: readonly Call[]): number[][] => calls.map((call) => call.starts.flat());

  it("are generated together turn by turn, by place, as long as each still runs", async () => {
    const { policy, calls } = fakePolicy(1000);
    await collectRollouts(policy, prompt, tasks, streams(4), { batch: 4 });
    assert.deepEqual(starts(calls), [[0, 10, 20, 30], [1, 11, 31], [12, 32], [13]]);
  });

  it("have the same turns whatever the timing, the batch, and how many the environment holds at once", async () => {
    const { policy } = fakePolicy(1000);
    const expected = await collectRollouts(policy, prompt, tasks, streams(4), { batch: 4 });
    const actual = expected.rollouts.map((rollout) => rollout.turns.length);
    assert.deepEqual(actual, TURNS);
    const delays = [
      (place: number) => 40 * place,
      (place: number) => 40 * (3 - place),
      (place: number, turn: number) => ((place * 7 + turn * 11) % 5) * 20,
    ];
    for (const delay of delays) {
      const { policy: same, calls } = fakePolicy(1000);
      const { rollouts } = await collectRollouts(same, turns(delay), tasks, streams(4), { batch: 4 });
      assert.deepEqual(rollouts, expected.rollouts);
      // the batches of generation do not depend on the speed of episodes
      assert.deepEqual(starts(calls), [[0, 10, 20, 30], [1, 11, 31], [12, 32], [13]]);
      for (const [batch, capacity] of [[1], [3], [4, 2]] as [number, number?][]) {
        const { policy: another, calls: asked } = fakePolicy(1000);
        const split = await collectRollouts(another, turns(delay, capacity), tasks, streams(4), { batch });
        assert.deepEqual(split.rollouts, expected.rollouts);
        const most = Math.min(batch, capacity ?? batch);
        assert.ok(asked.every((call) => call.starts.length <= most));
      }
    }
  });

  it("draw the noise of their turns from one stream each, one after the other", async () => {
    const { policy } = fakePolicy(1000);
    const { rollouts } = await collectRollouts(policy, prompt, tasks, streams(4), { batch: 4 });
    const expected = streams(4).map((rng, i) => Array.from({ length: TURNS[i] as number }, () => rng.int(1000)));
    const actual = rollouts.map((rollout) =>
      rollout.turns.map(({ trajectory }) => (trajectory as TokenTrajectory).response[1]),
    );
    assert.deepEqual(actual, expected);
  });
});
