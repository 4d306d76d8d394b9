import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { loadConfig, type RunConfig, resolvePath } from "../../../src/config/config.js";
import type { UnmaskTrajectory } from "../../../src/diffusion/samplers/unmask/trajectory.js";
import { openEnvironment, tasksOf } from "../../../src/env/open.js";
import { modelHash } from "../../../src/nn/model.js";
import { readMetrics } from "../../../src/runs/metrics.js";
import { type RolloutRecord, readRollouts, writeRollouts } from "../../../src/runs/rollout-record.js";
import { RunDirectory } from "../../../src/runs/run-directory.js";
import { train } from "../../../src/train/recipe.js";
import type { TrainOptions } from "../../../src/train/types.js";
import { differences, timelessFiles } from "../../support/run-files.js";
import { smallModel } from "../../support/small-model.js";
import { stopAfter } from "../../support/stop-after.js";
import { temporaryFolder } from "../../support/temporary.js";
import { trainOptions } from "../../support/train-options.js";

const model = await smallModel();
const STEPS = 2;
const REWARDS = [0.25, 0.75, 0.5];

function smallConfig(command: string, ...overrides: string[]): Promise<RunConfig> {
  return loadConfig("configs/tiny/quickstart.yaml", {
    command,
    overrides: [
      `model=${model}`,
      "site.sizes={train: 4, val: 1, test: 0, heldout: 0}",
      `objective.kind=${command}`,
      `training.steps=${STEPS}`,
      "training.micro_batch=3",
      "evaluation.splits=[]",
      "evaluation.every=0",
      "runtime.threads=1",
      "runtime.provider=cpu",
      ...overrides,
    ],
  });
}

/** Makes a response of six tokens, revealed in one round, with invented log-probabilities. */
function trajectory(config: RunConfig, seed: number): UnmaskTrajectory {
  const tokens = [10 + seed, 20, 30, 40, 50, 1022];
  return {
    prompt: [1, 2, 3],
    slotSize: Number(config.sampler.slot_size),
    responseLength: Number(config.sampler.response_length),
    temperature: Number(config.sampler.temperature),
    rounds: [{ positions: [...tokens.keys()], tokens, logProbs: Array(6).fill(-10), eosAllowed: Array(6).fill(true) }],
    response: tokens,
    ended: "eos",
  };
}

describe("training from recorded rollouts", () => {
  const root = temporaryFolder("recorded");
  let recorded: string;
  let records: (step: number, signal?: boolean) => RolloutRecord[];

  before(async () => {
    recorded = join(root, "recorded");
    const config = await smallConfig("flow-grpo");
    const environment = await openEnvironment(config);
    const task = tasksOf(environment, "train")[0];
    await environment.close();
    assert.ok(task !== undefined);
    records = (step, signal = false) =>
      [0, 1].flatMap((group) =>
        // the last rollout of each group is a fault; the second group carries no signal by default
        [...REWARDS, null].map((reward, rollout): RolloutRecord => {
          const own = trajectory(config, rollout);
          return {
            format: 2,
            step,
            group,
            rollout,
            task_id: task.id,
            form: task.form,
            reward: reward === null || group === 0 || signal ? reward : 0.5,
            metrics: null,
            success: false,
            advantage: 99,
            fault: reward === null ? "timeout" : null,
            tokens: own.response.length,
            turns: [{ prompt: "p", response: "r", trajectory: own }],
            detail: {},
          };
        }),
      );
    const directory = RunDirectory.create({ name: "recorded", runDir: recorded });
    await directory.writeConfig(config, "flow-grpo");
    const hashes = { model: await modelHash(resolvePath(config.model, "model")) };
    const from = { command: "flow-grpo", config: "configs/tiny/quickstart.yaml" };
    await directory.writeEnvironment({ ...from, seeds: { run: 0 }, hashes });
    for (let step = 1; step <= STEPS; step++) await writeRollouts(directory.rollouts(step), records(step));
  });

  const options = (name: string, command: string, changes: Partial<TrainOptions> = {}): TrainOptions =>
    trainOptions(command, "configs/tiny/quickstart.yaml", join(root, name), { rolloutsRun: recorded, ...changes });

  for (const command of ["flow-grpo", "espo", "grpo"]) {
    it(`trains ${command}: rewards as recorded, advantages and old values its own`, async () => {
      // flow-grpo uses a ratio per token: the ratio of six unlikely tokens together would be clipped or vanish
      const own: Readonly<Record<string, string[]>> = {
        "flow-grpo": ["objective.ratio_level=token"],
        espo: ["objective.noise_every=2"],
      };
      const config = await smallConfig(command, "objective.advantage=leave_one_out", ...(own[command] ?? []));
      const result = await train(config, options(command, command));
      assert.deepEqual([result.steps, result.interrupted], [STEPS, false]);
      const rows = readMetrics(join(root, command, "metrics.jsonl"));
      for (const row of rows) {
        const { episodes_played, after_eos_fraction, gradient_agreement } = row.extra ?? {};
        const { reward, faults, frac_reward_zero_std, rollout_tokens_per_s } = row;
        assert.deepEqual([reward, faults, frac_reward_zero_std, rollout_tokens_per_s], [0.5, 2, 0.5, null]);
        assert.deepEqual([episodes_played, after_eos_fraction, gradient_agreement], [0, 0, null]);
        assert.ok((row.grad_norm ?? 0) > 0, JSON.stringify(row));
        const noise = row.extra?.mask_noise_fraction;
        if (command === "espo" && row.step === 2) assert.ok(typeof noise === "number" && noise > 0 && noise <= 1);
        else assert.equal(noise, null);
      }
      // flow-grpo compares with the recorded log-probabilities, the others with their policy before the update
      const error = rows[0]?.extra?.on_policy_ratio_error ?? Number.NaN;
      if (command === "flow-grpo") assert.ok(error > 0.1, `${error}`);
      else assert.ok(error < 1e-4, `${error}`);
      const written = readRollouts(join(root, command, "rollouts", "step-000001.jsonl"));
      const { advantage: _, ...first } = written[0] as RolloutRecord;
      const { advantage: __, ...original } = records(1)[0] as RolloutRecord;
      assert.deepEqual(first, original);
      const advantages = written.map((record) => record.advantage);
      assert.deepEqual(advantages, [-0.375, 0.375, 0, null, null, null, null, null]);
    });
  }

  it("takes no update in a step with too few groups that carry signal, and counts it across a resume", async () => {
    const config = await smallConfig("flow-grpo", "training.prompts_per_step=2", "training.min_signal_groups=2");
    const start = async (changes: Partial<TrainOptions>): Promise<string[]> => {
      const { steps } = await train(config, options("skipped", "flow-grpo", changes));
      const rows = readMetrics(join(root, "skipped", "metrics.jsonl"));
      assert.equal(rows.length, steps);
      return rows.map(({ loss, grad_norm, tokens, extra }) => `${loss} ${grad_norm} ${tokens} ${extra?.skipped_steps}`);
    };
    assert.deepEqual(await start({ signal: stopAfter(1) }), ["null null 0 1"]);
    assert.deepEqual(await start({ resume: true }), ["null null 0 1", "null null 0 2"]);
  });

  it("goes on exactly where it was interrupted, without being told where the rollouts are", async () => {
    const config = await smallConfig("espo");
    const stopped = await train(config, options("resumed", "espo", { signal: stopAfter(1) }));
    assert.deepEqual([stopped.steps, stopped.interrupted], [1, true]);
    await train(config, options("resumed", "espo", { rolloutsRun: undefined, resume: true }));
    await train(config, options("whole", "espo"));
    const [whole, resumed] = ["whole", "resumed"].map((name) => timelessFiles(join(root, name)));
    assert.ok(whole !== undefined && resumed !== undefined && whole.size >= 8);
    const actual = differences(whole, resumed).filter((name) => !name.startsWith("1/"));
    assert.deepEqual(actual, []);
  });

  it("measures the gradient's noise in the steps that the config says", async () => {
    const record = async (signal: boolean): Promise<void> => {
      for (let step = 1; step <= STEPS; step++)
        await writeRollouts(join(recorded, "rollouts", `step-00000${step}.jsonl`), records(step, signal));
    };
    const measured = (name: string) =>
      readMetrics(join(root, name, "metrics.jsonl")).map(({ extra }) =>
        ["agreement", "noise_fraction", "noise_scale"].map((key) => extra?.[`gradient_${key}`]),
      );
    await record(true);
    const each = await smallConfig("espo", "training.gradient_noise_every=1");
    await train(each, options("noise", "espo"));
    const [first, second] = measured("noise");
    for (const [agreement, fraction, scale] of [first ?? [], second ?? []]) {
      // the halves have separate masks and few samples, so they may disagree
      assert.ok(typeof agreement === "number" && Math.abs(agreement) <= 1 + 1e-9, `${agreement}`);
      assert.ok(typeof fraction === "number" && fraction >= 0, `${fraction}`);
      if (typeof scale === "number") assert.ok(Math.abs(scale - (6 * fraction) / (1 - fraction)) < 1e-6, `${scale}`);
    }
    assert.notDeepEqual(first, second);

    await train(await smallConfig("espo", "training.gradient_noise_every=2"), options("noise-2", "espo"));
    const [none, only] = measured("noise-2");
    assert.deepEqual(none, [null, null, null]);
    assert.ok(typeof only?.[0] === "number");
    await record(false);
  });

  it("has a dry run, which measures scoring and update and writes nothing", async () => {
    const config = await smallConfig("flow-grpo");
    const { dryRun, steps } = await train(config, options("dry", "flow-grpo", { dryRun: true }));
    assert.ok(dryRun !== undefined);
    assert.deepEqual([steps, dryRun.rollouts, dryRun.step.rollout, dryRun.evaluation], [0, 0, 0, 0]);
    assert.ok(dryRun.step.score > 0 && dryRun.step.update > 0);
    assert.equal(dryRun.total, STEPS * (dryRun.step.score + dryRun.step.update));
    assert.ok(!existsSync(join(root, "dry")));
    const resumed = train(config, options("refused", "flow-grpo", { resume: true, dryRun: true }));
    await assert.rejects(resumed, /is no run directory/);
  });

  it("refuses rollouts that do not fit", async () => {
    const refused = async (message: RegExp, overrides: string[], command = "flow-grpo"): Promise<void> => {
      const config = await smallConfig(command, ...overrides);
      await assert.rejects(train(config, options("refused", command)), message);
    };
    await refused(/no rollouts of step 3/, ["training.steps=3"]);
    await refused(/sampler\.temperature: 1 -> 0\.5/, ["sampler.temperature=0.5"]);
    await refused(/reward: "default" -> "documents"/, ["reward=documents"]);
  });

  it("finds a file that was cut off before the first step, and makes no run then", async () => {
    const config = await smallConfig("espo");
    const path = join(recorded, "rollouts", "step-000002.jsonl");
    const whole = readFileSync(path, "utf8");
    writeFileSync(path, whole.slice(0, -10));
    const cut = /step-000002\.jsonl ends within its line 8: it was cut off/;
    await assert.rejects(train(config, options("cut", "espo")), cut);
    writeFileSync(path, "");
    await assert.rejects(train(config, options("cut", "espo")), /step-000002\.jsonl holds no rollout/);
    writeFileSync(path, whole);
    assert.ok(!existsSync(join(root, "cut")));
  });

  it("goes on where a loss of power took what the checkpoint has behind it", async () => {
    const config = await smallConfig("espo");
    await train(config, options("power", "espo", { signal: stopAfter(1) }));
    // the checkpoint is synced to disk; its metrics and rollouts may still be lost, by a faulty disk or by deletion
    rmSync(join(root, "power", "metrics.jsonl"));
    rmSync(join(root, "power", "rollouts"), { recursive: true });
    const { steps } = await train(config, options("power", "espo", { resume: true }));
    assert.equal(steps, STEPS);
    const last = (name: string): Buffer =>
      readFileSync(join(root, name, "checkpoints", "step-000002", "adapter_model.safetensors"));
    // "whole" is the same run, without a loss
    assert.deepEqual(last("power"), last("whole"));
    const actual = readMetrics(join(root, "power", "metrics.jsonl")).map((row) => row.step);
    assert.deepEqual(actual, [2]);
    const log = readFileSync(join(root, "power", "log.jsonl"), "utf8");
    assert.match(log, /metrics\.jsonl lacks step 1, which the checkpoint has behind it/);
  });

  it("names the line of a rollout of another split, and of a trajectory that nobody sampled", async () => {
    const config = await smallConfig("flow-grpo", "training.steps=1");
    const path = join(recorded, "rollouts", "step-000001.jsonl");
    const [first, ...rest] = records(1) as [RolloutRecord, ...RolloutRecord[]];
    await writeRollouts(path, [first, { ...(rest[0] as RolloutRecord), task_id: "elsewhere" }]);
    await assert.rejects(train(config, options("a", "flow-grpo")), /line 2: elsewhere is no training task/);
    const own = trajectory(config, 0);
    const turn = { prompt: "p", response: "r", trajectory: { ...own, response: own.response.slice(1) } };
    await writeRollouts(path, [{ ...first, turns: [turn] }, ...rest]);
    await assert.rejects(train(config, options("b", "flow-grpo")), /line 1: inconsistent trajectory/);
    await writeRollouts(path, [first, { ...(rest[0] as RolloutRecord), reward: 7 }]);
    const none = /line 2: the reward 7 is none of this environment's/;
    await assert.rejects(train(config, options("c", "flow-grpo")), none);
  });
});
