import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { configOf } from "../../../src/config/config.js";
import type { Objective } from "../../../src/rl/objective.js";
import { objective } from "../../../src/rl/objectives/sft.js";
import { readMetrics } from "../../../src/runs/metrics.js";
import { train } from "../../../src/train/recipe.js";
import { idleOptions, type Setting } from "../../support/idle-options.js";
import { temporaryFolder } from "../../support/temporary.js";
import { trainOptions } from "../../support/train-options.js";

const root = temporaryFolder("sft-options");

const SETTINGS: Readonly<Record<string, Setting>> = {
  batch_size: { why: "null is four examples", to: 2 },
  ar_weight: { why: "null is .5", to: 0.1 },
  pack_length: { why: "a pack holds an example at least", to: 224 },
  trainable: { why: "a whole model needs a folder", beside: { output: join(root, "whole") } },
  augment: { why: "a share that is never rounded to none", to: 1 },
  muon_lr_scale: { why: "scales the matrices of muon", beside: { optimizer: "muon" } },
  output: {
    why: "names where a whole model goes",
    beside: { trainable: "full" },
    to: join(root, "named"),
    seen: (_, options) => (options as { output: string | null }).output,
  },
};

const CONFIG = {
  model: "models/tiny-refusion-template",
  environment: { kind: "paper", sizes: { train: 8, val: 0, test: 0, heldout: 0 } },
  plan: "template",
  sampler: { kind: "unmask", slot_fill: "autoregressive", prompt_length: 56, response_length: 96 },
  objective: { kind: "sft" },
  training: { steps: 2, prompts_per_step: 2, group_size: 2, micro_batch: 4, learning_rate: 1e-2 },
  ...{ evaluation: { splits: [] }, checkpoint: { every: 0 }, runtime: { threads: 1, provider: "cpu" } },
};

let runs = 0;
/** Takes two steps: the loss of the second shows the update of the first. */
async function losses(options: unknown): Promise<unknown> {
  const runDir = join(root, `run-${runs++}`);
  const config = await configOf(CONFIG, "options.yaml");
  const objective = { ...config.objective, ...(options as object) } as never;
  await train({ ...config, objective }, trainOptions("sft", "options.yaml", runDir));
  return readMetrics(join(runDir, "metrics.jsonl")).map(({ loss, grad_norm }) => [loss, grad_norm]);
}

test("sft: every option changes a step, or is refused", async () =>
  assert.deepEqual(await idleOptions(objective as Objective, SETTINGS, losses), []));
