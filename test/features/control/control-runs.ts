import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, it } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { readMetrics } from "../../../src/runs/metrics.js";
import { train } from "../../../src/train/recipe.js";
import type { TrainOptions } from "../../../src/train/types.js";
import { differences, timelessFiles } from "../../support/run-files.js";
import { stopAfter } from "../../support/stop-after.js";
import { temporaryFolder } from "../../support/temporary.js";
import { trainOptions } from "../../support/train-options.js";
import { FOR_CONTROL, velocityModel } from "./velocity-model.js";

// an untrained hand never succeeds: staged rewards tell its episodes apart
const config = (model: string, ratio: string): string => `
model: ${model}
environment: {kind: control, train_tasks: 4, horizon: 12, reward: staged}
sampler: {kind: flow, steps: 2, temperature: 0.5, ratio: ${ratio}, pairs: 2}
lora: {rank: 4, alpha: 4, targets: [in_proj, up_proj, down_proj, out_proj]}
objective: {kind: flow-grpo, kl_coeff: 0.01, clip_range: ${ratio === "cfm" ? 1e-4 : 0.2}}
training: {steps: 3, prompts_per_step: 2, group_size: 3, num_iterations: 2, learning_rate: 1.0e-2, rollout_batch: 6, micro_batch: 8}
evaluation: {splits: [heldout], episodes: 4, temperature: 0}
checkpoint: {every: 1, keep_last: 9}
runtime: {threads: 1, provider: cpu}
tracking: {tensorboard: false}
`;

/** Runs of a flow policy in the simulator, in a folder that goes with the suite that asks for them. */
export class ControlRuns {
  readonly root = temporaryFolder("control");
  model = "";

  constructor() {
    before(async () => {
      ({ dir: this.model } = await velocityModel(undefined, FOR_CONTROL));
      for (const ratio of ["sde", "cfm"]) writeFileSync(this.dir(`${ratio}.yaml`), config(this.model, ratio));
    });
  }

  dir(name: string): string {
    return join(this.root, name);
  }

  async run(ratio: string, name: string, changes: Partial<TrainOptions> = {}): Promise<void> {
    const configPath = this.dir(`${ratio}.yaml`);
    await train(await loadConfig(configPath), trainOptions("flow-grpo", configPath, this.dir(name), changes));
  }

  assertSame(name: string, other: string): void {
    const [a, b] = [name, other].map((of) => timelessFiles(this.dir(of)));
    assert.ok(a !== undefined && b !== undefined && a.size > 10);
    assert.deepEqual(differences(a, b), []);
  }

  /** Adds the test of one kind of ratio. */
  learns(ratio: "sde" | "cfm"): void {
    it(`learns from chunks that are scored as they were drawn, and goes on where it was stopped (${ratio})`, async () => {
      await this.run(ratio, ratio);
      const rows = readMetrics(join(this.dir(ratio), "metrics.jsonl"));
      assert.equal(rows.length, 3);
      for (const { frac_reward_zero_std, grad_norm, extra } of rows) {
        assert.equal(frac_reward_zero_std, 0, "continuous rewards differ");
        assert.ok((grad_norm as number) > 0);
        assert.ok((extra?.on_policy_ratio_error ?? 1) < 1e-4, `${extra?.on_policy_ratio_error}`);
      }
      await this.run(ratio, `${ratio}-stopped`, { signal: stopAfter(1) });
      await this.run(ratio, `${ratio}-stopped`, { resume: true });
      this.assertSame(ratio, `${ratio}-stopped`);
      const html = readFileSync(join(this.dir(ratio), "report.html"), "utf8");
      assert.match(html, /drawn from the recorded positions/);
      assert.match(html, /outside to bin [12]/);
      assert.doesNotMatch(html, /Prompt of turn/, "there are no texts");
      assert.doesNotMatch(html, / alike/, "no two episodes went the same way");
    });
  }
}
