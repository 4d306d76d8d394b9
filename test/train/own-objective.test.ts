import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import type { Tensor } from "../../src/onnx/types.js";
import { readMetrics } from "../../src/runs/metrics.js";
import { readRollouts } from "../../src/runs/rollout-record.js";
import { train } from "../../src/train/recipe.js";
import type { TrainOptions } from "../../src/train/types.js";
import { readSafetensors } from "../../src/weights/safetensors.js";
import { CliProcess } from "../support/cli-process.js";
import { OWN_ENVIRONMENT, ownFolder } from "../support/own-modules.js";
import { smallModel } from "../support/small-model.js";
import { trainOptions } from "../support/train-options.js";

/**
 * FlowRL (Zhu et al. 2025, arXiv 2509.15207, equation 6) with one term per round instead of per response, and a learned
 * log Z of the prompt's last hidden state h:
 *   d_t  = log Z(h) + (l_t - l_t_ref) / n_t - beta c_t,   log Z = h w + b
 *   loss = sum_t weight_t stop(clip(exp((l_t - l_t_old) / n_t), 1 -+ eps)) d_t^2
 */
const OBJECTIVE = `
import { defineObjective } from "refusion-train";
import { z } from "zod";

export const objective = defineObjective({
  name: "flow-balance",
  description: "matches the distribution of rewards, with a learned partition function",
  schema: z.strictObject({
    beta: z.number().positive().default(2).describe("weight of the reward"),
    clip: z.number().positive().default(0.2).describe("the importance weight is clipped to 1 +- this"),
  }),
  learnsFrom: "rollouts",
  scoring: "steps",
  needs: () => ({ reference: true }),
  // the more of its steps an episode has behind it, the more of its standardised reward a step gets
  credit(group) {
    const rewards = group.flatMap(({ reward }) => (reward === null ? [] : [reward]));
    const mean = rewards.reduce((a, b) => a + b, 0) / rewards.length;
    const std = Math.sqrt(rewards.reduce((a, b) => a + (b - mean) ** 2, 0) / rewards.length);
    return group.map(({ reward, turns }) =>
      reward === null || !(std > 1e-6)
        ? null
        : turns.map(({ steps }) => Array.from({ length: steps }, (_, t) => (((reward - mean) / std) * (t + 1)) / steps)),
    );
  },
  parameters: (_, { hiddenSize }) => [
    {
      name: "log-z",
      learningRateScale: 10,
      parameters: [
        { name: "log_z.weight", shape: [hiddenSize, 1] },
        { name: "log_z.bias", shape: [1] },
      ],
      initial: (rng) => {
        const weight = Float32Array.from({ length: hiddenSize }, () => 0.02 * rng.normal());
        return new Map([
          ["log_z.weight", { dtype: "float32", shape: [hiddenSize, 1], data: weight }],
          ["log_z.bias", { dtype: "float32", shape: [1], data: new Float32Array(1) }],
        ]);
      },
    },
  ],
  inputs: { prompt_end: { dtype: "int64", shape: ["S"] } },
  feed({ owner, segments, inputs }, trajectories) {
    const [, length] = inputs.input_ids.shape;
    const rows = owner.map((b) => (b < 0 ? 0 : b * length + trajectories[b].prompt.length - 1));
    return { prompt_end: { dtype: "int64", shape: [segments], data: BigInt64Array.from(rows, BigInt) } };
  },
  layout: (trajectories, _, context) => context.stepTerms(trajectories, { level: "step" }),
  loss({ e, logProb, old, reference, advantage, units, weight, hidden, extra, parameters }, { beta, clip }) {
    const h = e.gather(hidden, extra.prompt_end);
    const logZ = e.squeeze(e.gemm(h, parameters["log_z.weight"], { c: parameters["log_z.bias"] }), [1]);
    const d = e.sub(e.add(logZ, e.div(e.sub(logProb, reference), units)), e.mul(advantage, beta));
    const w = e.stopGradient(e.clip(e.exp(e.div(e.sub(logProb, old), units)), 1 - clip, 1 + clip));
    return {
      loss: e.total(e.mul(weight, e.mul(w, e.mul(d, d)))),
      metrics: { log_z: { value: e.total(e.mul(weight, logZ)), reduce: "sum" } },
    };
  },
});
`;

const CONFIG = `
model: ${await smallModel()}
environment: { kind: ./environment.mjs, turns: 1 }
objective: { kind: ./objective.mjs, beta: 3 }
sampler: { kind: unmask, prompt_length: 32, response_length: 16, temperature: 2 }
training: { steps: 3, prompts_per_step: 2, group_size: 4, micro_batch: 3, num_iterations: 2, learning_rate: 1.0e-3 }
evaluation: { splits: [heldout], episodes: 2 }
checkpoint: { every: 1, keep_last: 9 }
runtime: { threads: 1, provider: cpu }
`;

describe("an objective of one's own, with a head, credit a step and hidden states", () => {
  const dir = ownFolder({ "environment.mjs": OWN_ENVIRONMENT, "objective.mjs": OBJECTIVE, "run.yaml": CONFIG });

  const options = (name: string, changes?: Partial<TrainOptions>): TrainOptions =>
    trainOptions("./objective.mjs", "run.yaml", join(dir, name), changes);
  const head = (step: number): ReadonlyMap<string, Tensor> =>
    readSafetensors(join(dir, "whole", "checkpoints", `step-00000${step}`, "log-z.safetensors"));

  it("trains by the command line, the head beside the adapter, in a file of its own", async () => {
    const command = ["train", "--config", "run.yaml", "--run-dir", "whole", "--quiet"];
    const { code, err } = await new CliProcess(command, { cwd: dir }).ended;
    assert.equal(code, 0, err);
    const rows = readMetrics(join(dir, "whole", "metrics.jsonl"));
    assert.equal(rows.length, 3);
    for (const { loss, kl, ratio_mean, clip_fraction, grad_norm, extra } of rows) {
      assert.ok((loss ?? 0) > 0 && (grad_norm ?? 0) > 0);
      assert.equal(typeof extra?.log_z, "number");
      // the objective has no ratios and no penalty, so their metrics are null
      assert.deepEqual([kl, ratio_mean, clip_fraction, extra?.on_policy_ratio_error], [null, null, null, null]);
    }
    const files = readdirSync(join(dir, "whole", "checkpoints", "step-000001"));
    assert.ok(files.includes("adapter_model.safetensors") && files.includes("log-z.safetensors"));
    const hidden = head(1).get("log_z.weight")?.shape[0] as number;
    for (const [name, size] of Object.entries({ "log_z.weight": hidden, "log_z.bias": 1 })) {
      const values = [1, 2, 3].map((step) => [...((head(step).get(name) as Tensor).data as Float32Array)]);
      assert.ok(values.every((of) => of.length === size && of.every(Number.isFinite)));
      // the loss reaches every weight of the head, through the hidden states
      for (let i = 0; i < size; i++) assert.equal(new Set(values.map((of) => of[i])).size, 3, `${name}[${i}]`);
    }
    const optimizer = readSafetensors(join(dir, "whole", "checkpoints", "step-000003", "optimizer.safetensors"));
    assert.deepEqual(optimizer.get("m/log_z.weight")?.shape, [hidden, 1]);
  });

  it("gives every step of an episode credit of its own", () => {
    const records = readRollouts(join(dir, "whole", "rollouts", "step-000001.jsonl"));
    const learned = records.filter(({ credit }) => credit !== undefined);
    assert.ok(learned.length >= 4, `${learned.length} of ${records.length}`);
    for (const group of new Set(learned.map((record) => record.group))) {
      const some = learned.filter((record) => record.group === group);
      const rewards = some.map(({ reward }) => reward as number);
      const mean = rewards.reduce((a, b) => a + b, 0) / rewards.length;
      const std = Math.sqrt(rewards.reduce((a, b) => a + (b - mean) ** 2, 0) / rewards.length);
      for (const { credit, reward, advantage } of some) {
        assert.equal(advantage, null);
        const steps = credit?.[0] as number[];
        assert.ok(steps.length > 1);
        steps.forEach((given, t) => {
          const wanted = (((reward as number) - mean) / std) * ((t + 1) / steps.length);
          assert.ok(Math.abs(given - wanted) < 1e-9, `${given} for ${wanted}`);
        });
      }
    }
  });

  it("is checked by its own schema, and by what the sampler can score", async () => {
    const misspelt = loadConfig("run.yaml", { overrides: ["objective.betta=1"] });
    await assert.rejects(misspelt, /did you mean objective\.beta\?/);
    await assert.rejects(loadConfig("run.yaml", { overrides: ["objective.beta=-1"] }), /objective\.beta/);
    const config = await loadConfig("run.yaml", { overrides: ["sampler={kind: refusion}"] });
    await assert.rejects(train(config, options("refused")), /^UserError: flow-balance does not work here: /);
    assert.match(readFileSync(join(dir, "whole", "config.yaml"), "utf8"), /kind: \.\/objective\.mjs/);
  });
});
