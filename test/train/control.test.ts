import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { loraName } from "../../src/nn/lora.js";
import { findCheckpoint, readCheckpoint } from "../../src/runs/checkpoint.js";
import { readMetrics } from "../../src/runs/metrics.js";
import { RunDirectory } from "../../src/runs/run-directory.js";
import { train } from "../../src/train/recipe.js";
import type { TrainOptions } from "../../src/train/types.js";
import { CliProcess } from "../support/cli-process.js";
import { differences, timelessFiles } from "../support/run-files.js";
import { stopAfter } from "../support/stop-after.js";
import { trainOptions } from "../support/train-options.js";
import { FOR_CONTROL, velocityModel } from "../support/velocity-model.js";

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

describe("a flow policy in the simulator", () => {
  let root: string;
  let model: string;
  const dir = (name: string): string => join(root, name);
  before(async () => {
    root = mkdtempSync(join(tmpdir(), "control-"));
    ({ dir: model } = await velocityModel(undefined, FOR_CONTROL));
    for (const ratio of ["sde", "cfm"]) writeFileSync(dir(`${ratio}.yaml`), config(model, ratio));
  });
  after(() => {
    for (const folder of [root, dirname(model)]) rmSync(folder, { recursive: true, force: true });
  });
  const run = async (ratio: string, name: string, changes: Partial<TrainOptions> = {}): Promise<void> => {
    const configPath = dir(`${ratio}.yaml`);
    await train(await loadConfig(configPath), trainOptions("flow-grpo", configPath, dir(name), changes));
  };
  const assertSame = (name: string, other: string): void => {
    const [a, b] = [name, other].map((of) => timelessFiles(dir(of)));
    assert.ok(a !== undefined && b !== undefined && a.size > 10);
    assert.deepEqual(differences(a, b), []);
  };

  for (const ratio of ["sde", "cfm"]) {
    it(`learns from chunks that are scored as they were drawn, and goes on where it was stopped (${ratio})`, async () => {
      await run(ratio, ratio);
      const rows = readMetrics(join(dir(ratio), "metrics.jsonl"));
      assert.equal(rows.length, 3);
      for (const { frac_reward_zero_std, grad_norm, extra } of rows) {
        assert.equal(frac_reward_zero_std, 0, "continuous rewards differ");
        assert.ok((grad_norm as number) > 0);
        assert.ok((extra?.on_policy_ratio_error ?? 1) < 1e-4, `${extra?.on_policy_ratio_error}`);
      }
      await run(ratio, `${ratio}-stopped`, { signal: stopAfter(1) });
      await run(ratio, `${ratio}-stopped`, { resume: true });
      assertSame(ratio, `${ratio}-stopped`);
      const html = readFileSync(join(dir(ratio), "report.html"), "utf8");
      assert.match(html, /drawn from the recorded positions/);
      assert.match(html, /outside to bin [12]/);
      assert.doesNotMatch(html, /Prompt of turn/, "there are no texts");
      assert.doesNotMatch(html, / alike/, "no two episodes went the same way");
    });
  }

  it("learns from depth images as well: imitation, then reinforcement, the same way twice", async () => {
    const { dir: seeing } = await velocityModel(undefined, { ...FOR_CONTROL, state_size: 7, depth: 8 });
    const section = "{kind: control, train_tasks: 4, horizon: 12, reward: staged, state: proprioceptive, depth: 8}";
    const shown = (file: string, changes: (text: string) => string): void =>
      writeFileSync(dir(file), changes(readFileSync(dir("sde.yaml"), "utf8").replace(/{kind: control[^}]*}/, section)));
    shown("see.yaml", (text) => text.replace(model, seeing).replace("[in_proj,", "[patch_proj, in_proj,"));
    shown("see-sft.yaml", (text) =>
      text
        .replace(model, seeing)
        .replace(/^objective.*$/m, `objective: {kind: sft, trainable: full, output: ${dir("cloned")}, batch_size: 32}`)
        .replace(/^training.*$/m, "training: {steps: 40, learning_rate: 3.0e-3}")
        .replace(/^evaluation.*$/m, "")
        .replace("every: 1,", "every: 40,"),
    );
    try {
      const path = dir("see-sft.yaml");
      await train(await loadConfig(path), trainOptions("sft", path, dir("see-sft")));
      const losses = readMetrics(join(dir("see-sft"), "metrics.jsonl")).map(({ loss }) => loss as number);
      const mean = (some: number[]): number => some.reduce((a, b) => a + b, 0) / some.length;
      assert.ok(mean(losses.slice(-5)) < 0.8 * mean(losses.slice(0, 5)), losses.join(" "));
      await run("see", "see");
      await run("see", "see-again");
      assertSame("see", "see-again");
      const { adapter } = await readCheckpoint(findCheckpoint(RunDirectory.open(dir("see")), "last"));
      for (const module of ["vision.patch_proj", "vision.out_proj"])
        assert.ok(adapter?.tensors.has(loraName(module, "B")), module);
      const blind = await loadConfig(dir("see.yaml"), { overrides: [`model=${model}`] });
      await assert.rejects(
        train(blind, trainOptions("flow-grpo", dir("see.yaml"), dir("blind"), { dryRun: true })),
        /environment.depth=8.*no depth image/,
      );
    } finally {
      rmSync(dirname(seeing), { recursive: true, force: true });
    }
  });

  it("killed and resumed, ends in the same bytes as a run that was not", async () => {
    const killed = new CliProcess(["flow-grpo", "--config", dir("sde.yaml"), "--run-dir", dir("killed")]);
    assert.ok(await killed.says(/step 1\/3/), killed.err);
    killed.killGroup();
    assert.equal((await killed.ended).signal, "SIGKILL");
    await run("sde", "killed", { resume: true });
    assertSame("sde", "killed");
  });
});
