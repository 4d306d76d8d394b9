import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import type { UserError } from "../../src/core/errors.js";
import { readEvaluation } from "../../src/runs/evaluation.js";
import { readMetrics } from "../../src/runs/metrics.js";
import { type RolloutRecord, readRollouts } from "../../src/runs/rollout-record.js";
import { train } from "../../src/train/recipe.js";
import type { TrainOptions } from "../../src/train/types.js";
import { CliProcess } from "../support/cli-process.js";
import { OWN_ENVIRONMENT, ownFolder } from "../support/own-modules.js";
import { timelessFiles } from "../support/run-files.js";
import { smallModel } from "../support/small-model.js";
import { trainOptions } from "../support/train-options.js";

const STEPS = 2;
const CONFIG = `
model: ${await smallModel()}
environment: { kind: ./environment.mjs, turns: 3, faulty: true }
objective: { kind: flow-grpo, advantage: center }
sampler: { kind: unmask, prompt_length: 32, response_length: 16, temperature: 2 }
training: { steps: ${STEPS}, prompts_per_step: 2, group_size: 4, rollout_batch: 5, micro_batch: 4, learning_rate: 1.0e-3 }
evaluation: { splits: [heldout], episodes: 6 }
checkpoint: { every: 1, keep_last: 9 }
runtime: { threads: 1, provider: cpu }
`;

type Files = ReturnType<typeof timelessFiles>;

describe("an environment of one's own: three turns, no browser", () => {
  const dir = ownFolder({ "environment.mjs": OWN_ENVIRONMENT, "run.yaml": CONFIG });

  const options = (name: string, changes?: Partial<TrainOptions>): TrainOptions =>
    trainOptions("flow-grpo", "run.yaml", join(dir, name), changes);
  const recordsOf = (step: number): RolloutRecord[] =>
    readRollouts(join(dir, "whole", "rollouts", `step-00000${step}.jsonl`));
  const records = (): RolloutRecord[] => Array.from({ length: STEPS }, (_, i) => recordsOf(i + 1)).flat();

  it("trains by the same loop and the same command", async () => {
    const command = ["flow-grpo", "--config", "run.yaml", "--run-dir", "whole", "--quiet"];
    const { code, err } = await new CliProcess(command, { cwd: dir }).ended;
    assert.equal(code, 0, err);
    const rows = readMetrics(join(dir, "whole", "metrics.jsonl"));
    assert.equal(rows.length, STEPS);
    for (const { step, reward, faults, grad_norm, extra } of rows) {
      const scored = recordsOf(step).filter((record) => record.reward !== null);
      const mean = (of: (record: RolloutRecord) => number): number =>
        scored.reduce((sum, record) => sum + of(record), 0) / scored.length;
      assert.equal(faults, 8 - scored.length);
      assert.ok(Math.abs((reward as number) - mean((record) => record.reward as number)) < 1e-12);
      assert.ok(Math.abs((extra?.last_turn as number) - mean((record) => record.metrics?.last_turn as number)) < 1e-12);
      assert.ok((grad_norm ?? 0) > 0);
      // the scores of every turn equal the sampled log-probabilities
      assert.ok((extra?.on_policy_ratio_error ?? 1) < 1e-4, `${extra?.on_policy_ratio_error}`);
      // there are no metrics of forms
      assert.ok(!("field_accuracy" in (extra ?? {})));
    }
    const evaluation = readEvaluation(join(dir, "whole", "eval", "heldout.json"));
    assert.equal(evaluation.episodes + evaluation.faults, 6);
    assert.deepEqual(Object.keys(evaluation.metrics), ["last_turn", "nonzero_rate"]);
    // the report shows all turns
    const html = readFileSync(join(dir, "whole", "report.html"), "utf8");
    for (const turn of [1, 2, 3]) assert.match(html, new RegExp(`Prompt of turn ${turn} \\(reward `));
  });

  it("is recorded turn by turn: what was seen, answered, sampled and earned", () => {
    assert.equal(records().length, 8 * STEPS);
    for (const record of records()) {
      const form = record.task_id.endsWith("0") ? "garden" : "library";
      const prompts = record.turns.map((turn) => turn.prompt).join("");
      assert.equal(prompts, [0, 1, 2].map((turn) => `form: ${form} ${turn}\n Name | ${form}\n\n`).join(""));
      const tokens = record.turns.map((turn) => (turn.trajectory as { response: number[] }).response.length);
      const expected = tokens.reduce((a, b) => a + b, 0);
      assert.equal(record.tokens, expected);
      if (record.reward === null) continue;
      const rewards = record.turns.map((turn) => turn.reward as number);
      assert.ok(Math.abs(record.reward - rewards.reduce((a, b) => a + b, 0) / 3) < 1e-12);
      const sum = (text: string) => [...text].reduce((n, c) => n + (c.codePointAt(0) as number), 0);
      const wanted = record.turns.map((turn) => (sum(turn.response) % 8) / 7);
      assert.deepEqual(rewards, wanted);
    }
  });

  it("leaves an episode out whose third turn faults: no reward, no credit, nothing trained on", () => {
    const faulted = records().filter((record) => record.fault !== null);
    assert.ok(faulted.length > 0 && faulted.length < 8 * STEPS, `${faulted.length} of ${8 * STEPS}`);
    for (const { fault, reward, metrics, advantage, credit, turns } of faulted) {
      assert.deepEqual([fault, reward, metrics, advantage, credit], ["turn 3 broke off", null, null, null, undefined]);
      // the record keeps the sampled turns, without a reward
      assert.equal(turns.length, 3);
      assert.ok(turns.every((turn) => typeof turn.trajectory === "object" && turn.reward === undefined));
    }
    for (const { step, tokens } of readMetrics(join(dir, "whole", "metrics.jsonl"))) {
      const of = recordsOf(step);
      const groups = [...new Set(of.map((record) => record.group))].map((group) =>
        of.filter((record) => record.group === group && record.reward !== null),
      );
      const trained = groups.flatMap((group) => {
        const mean = group.reduce((sum, record) => sum + (record.reward as number), 0) / group.length;
        // the group's mean is over the episodes with a reward
        for (const { reward, advantage } of group)
          if (advantage !== null) assert.ok(Math.abs(advantage - ((reward as number) - mean)) < 1e-9);
        return group.filter((record) => record.advantage !== null);
      });
      assert.ok(trained.length > 1);
      const expected = trained.reduce((sum, record) => sum + record.tokens, 0);
      assert.equal(tokens, expected);
    }
  });

  it("has recorded turns that train to the same adapter", async () => {
    await train(await loadConfig("run.yaml"), options("recorded", { rolloutsRun: join(dir, "whole") }));
    const [whole, learned] = ["whole", "recorded"].map((name) => timelessFiles(join(dir, name))) as [Files, Files];
    for (const name of [1, 2].map((step) => `${step}/adapter_model.safetensors`))
      assert.deepEqual(learned.get(name), whole.get(name), name);
  });

  it("is checked by its own schema; sections of forms are none of its", async () => {
    const refused = (override: string, message: RegExp): Promise<void> =>
      assert.rejects(loadConfig("run.yaml", { overrides: [override] }), message);
    await refused("environment.truns=2", /did you mean environment\.turns\?/);
    await refused("environment.turns=0", /environment\.turns .*at least 1/);
    await refused("site.kind=embedded", /\n {2}site: unknown key/);
    await refused("environment.kind=./nowhere.mjs", /no file .*nowhere\.mjs, which the config names as environment/);
    // the tasks and their options belong to the run and cannot change
    for (const [override, message] of [
      ["environment.turns=2", /split: "echo-3" -> "echo-2"/],
      ["environment.faulty=false", /environment\.faulty: true -> false[\s\S]*start a new run for other settings/],
    ] as const) {
      const overrides = [override];
      const resumed = train(await loadConfig("run.yaml", { overrides }), options("whole", { resume: true, overrides }));
      await assert.rejects(resumed, (error: UserError) => message.test(`${error.message} ${error.hint}`));
    }
  });
});
