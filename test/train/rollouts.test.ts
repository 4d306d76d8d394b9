import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunConfig } from "../../src/config/config.js";
import { Rng } from "../../src/core/rng.js";
import type { Trajectory } from "../../src/diffusion/trajectory.js";
import type { Episode, EpisodeRunner } from "../../src/env/browser/episode.js";
import type { Task } from "../../src/env/site.js";
import type { RolloutRecord } from "../../src/runs/rollout-record.js";
import { collectRollouts, type Rollout, recordOf } from "../../src/train/rollouts.js";
import { plainTrajectory } from "../support/plain-trajectory.js";

const task = (id: string): Task => ({ id, form: "f", split: "train", fields: {} }) as unknown as Task;
const TASKS = [task("10"), task("10"), task("20"), task("20"), task("10")];
const streams = (): Rng[] => TASKS.map((_, i) => Rng.named(1, `rollout/${i}`));

interface Call {
  readonly prompts: readonly (readonly number[])[];
  readonly temperature: number;
  readonly batch: number;
}

/** A policy whose response is its prompt and one draw of its stream, and what it was asked for. */
function fakePolicy(outcomes: number): { policy: Parameters<typeof collectRollouts>[0]; calls: Call[] } {
  const calls: Call[] = [];
  const policy = {
    promptOf: (t: Task) => [Number(t.id)],
    textOf: (t: Trajectory) => `plan ${t.response[1]}`,
    options: { temperature: 0.7 },
    rounds: {},
    sampler: {
      rollout: async (
        _: unknown,
        prompts: readonly number[][],
        options: { temperature: number },
        rngs: readonly Rng[],
        batch: number,
      ) => {
        assert.equal(prompts.length, rngs.length);
        calls.push({ prompts, temperature: options.temperature, batch });
        return prompts.map((prompt, i) =>
          plainTrajectory(prompt, [prompt[0] as number, (rngs[i] as Rng).int(outcomes)]),
        );
      },
    },
  };
  return { policy: policy as unknown as Parameters<typeof collectRollouts>[0], calls };
}

function fakeRunner(run: (task: Task, plan: string) => Promise<Episode>): { runner: EpisodeRunner; played: string[] } {
  const played: string[] = [];
  const runner = {
    run: (t: Task, plan: string) => {
      played.push(`${t.id} ${plan}`);
      return run(t, plan);
    },
  };
  return { runner: runner as unknown as EpisodeRunner, played };
}

const episode = async (t: Task, plan: string): Promise<Episode> => ({ taskId: t.id, status: plan.length }) as Episode;

test("every task gets the response of its own stream, whatever the batch", async () => {
  const draws = streams().map((rng) => rng.int(1000));
  for (const batch of [1, 2, 5, 8]) {
    const { policy, calls } = fakePolicy(1000);
    const { rollouts } = await collectRollouts(policy, fakeRunner(episode).runner, TASKS, streams(), { batch });
    assert.deepEqual(
      rollouts.map((r) => [r.task, r.plan, r.trajectory.prompt[0], r.episode.taskId]),
      TASKS.map((t, i) => [t, `plan ${draws[i]}`, Number(t.id), t.id]),
    );
    assert.equal(calls.length, Math.ceil(TASKS.length / batch));
    assert.ok(calls.every((call) => call.batch === batch && call.temperature === 0.7));
  }
});

test("one plan for one task is played once, and every rollout of it gets the episode", async () => {
  const { policy } = fakePolicy(1);
  const { runner, played } = fakeRunner(episode);
  const seen: number[] = [];
  const { rollouts, times } = await collectRollouts(policy, runner, TASKS, streams(), {
    batch: 2,
    temperature: 0,
    onEpisode: (done) => seen.push(done),
  });
  // the same words for another task are another episode
  assert.deepEqual(played, ["10 plan 0", "20 plan 0"]);
  assert.equal(times.episodes, 2);
  assert.deepEqual(
    rollouts.map((r) => r.episode.taskId),
    ["10", "10", "20", "20", "10"],
  );
  assert.equal(rollouts[0]?.episode, rollouts[4]?.episode);
  assert.deepEqual(seen, [1, 2, 3, 4, 5]);
});

test("an evaluation may have a temperature of its own", async () => {
  const { policy, calls } = fakePolicy(1);
  const options = { batch: 5, temperature: 0 };
  await collectRollouts(policy, fakeRunner(episode).runner, TASKS, streams(), options);
  assert.deepEqual(
    calls.map((call) => call.temperature),
    [0],
  );
});

test("the browser's failure is the caller's, once all responses are there", async () => {
  const { policy } = fakePolicy(1000);
  const { runner } = fakeRunner(async () => {
    throw new Error("no browser");
  });
  await assert.rejects(collectRollouts(policy, runner, TASKS, streams(), { batch: 1 }), /no browser/);
});

test("a rollout is recorded with what it was worth and what became of every line of its plan", () => {
  const trajectory = plainTrajectory([1], [0, 1, 0]);
  const worth = {
    reward: 0.7,
    documentsReward: 0.9,
    taskCompletion: 0.1,
    fieldAccuracy: 0.2,
    executionCompleteness: 0.3,
    success: true,
    accepted: true,
    posted: [["n", "v"]],
    actions: [
      { action: { kind: "fill", label: "Name", value: "A" }, fate: "done", control: 0 },
      { action: { kind: "submit" }, fate: "rejected", detail: "Name is missing" },
    ],
    unresolved: ["hello"],
    received: { Name: "A" },
    perField: { Name: 1 },
  };
  const recorded = { id: "t/1", form: "f", fields: { Name: "A" } };
  const place = { step: 3, group: 1, rollout: 2 };
  const of = (changes: object, reward: RunConfig["reward"]): RolloutRecord => {
    const rollout = {
      task: recorded,
      trajectory,
      plan: "plan",
      episode: { ...worth, ...changes },
    } as unknown as Rollout;
    return recordOf(rollout, place, { reward } as RunConfig, { promptText: () => "prompt" });
  };
  assert.deepEqual(of({}, "default"), {
    format: 1,
    ...place,
    task_id: "t/1",
    form: "f",
    prompt: "prompt",
    response: "plan",
    reward: 0.7,
    parts: { task_completion: 0.1, field_accuracy: 0.2, execution_completeness: 0.3 },
    success: true,
    advantage: null,
    accepted: true,
    truth: { Name: "A" },
    posted: [["n", "v"]],
    actions: [
      { action: "fill Name | A", fate: "done" },
      { action: "submit", fate: "rejected", detail: "Name is missing" },
      { action: "hello", fate: "not-an-action" },
    ],
    received: { Name: "A" },
    field_scores: { Name: 1 },
    fault: null,
    tokens: 3,
    trajectory,
  });
  assert.equal(of({}, "documents").reward, 0.9);
  // a fault is never a reward of 0
  const faulted = of({ fault: "timeout", reward: Number.NaN }, "default");
  assert.deepEqual([faulted.reward, faulted.parts, faulted.fault], [null, null, "timeout"]);
  assert.ok(!("received" in faulted) && !("field_scores" in faulted));
});
