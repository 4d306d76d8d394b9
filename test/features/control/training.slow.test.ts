import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { loraName } from "../../../src/nn/lora.js";
import { findCheckpoint, readCheckpoint } from "../../../src/runs/checkpoint.js";
import { readMetrics } from "../../../src/runs/metrics.js";
import { RunDirectory } from "../../../src/runs/run-directory.js";
import { train } from "../../../src/train/recipe.js";
import { trainOptions } from "../../support/train-options.js";
import { ControlRuns } from "./control-runs.js";
import { FOR_CONTROL, velocityModel } from "./velocity-model.js";

describe("a flow policy in the simulator, at length", () => {
  const runs = new ControlRuns();
  runs.learns("cfm");

  it("learns from depth images as well: imitation, then reinforcement, the same way twice", async () => {
    const { dir: seeing } = await velocityModel(undefined, { ...FOR_CONTROL, state_size: 7, depth: 8 });
    const section = "{kind: control, train_tasks: 4, horizon: 12, reward: staged, state: proprioceptive, depth: 8}";
    const given = readFileSync(runs.dir("sde.yaml"), "utf8");
    const text = given.replace(/{kind: control[^}]*}/, section).replace(runs.model, seeing);
    writeFileSync(runs.dir("see.yaml"), text.replace("[in_proj,", "[patch_proj, in_proj,"));
    const path = runs.dir("see-sft.yaml");
    const objective = `objective: {kind: sft, trainable: full, output: ${runs.dir("cloned")}, batch_size: 32}`;
    const cloning = text
      .replace(/^objective.*$/m, objective)
      .replace(/^(?:lora|evaluation).*$/gm, "")
      .replace(/^training.*$/m, "training: {steps: 40, learning_rate: 3.0e-3}")
      .replace("every: 1,", "every: 40,");
    writeFileSync(path, cloning);
    await train(await loadConfig(path), trainOptions("sft", path, runs.dir("see-sft")));
    const losses = readMetrics(join(runs.dir("see-sft"), "metrics.jsonl")).map(({ loss }) => loss as number);
    const mean = (some: number[]): number => some.reduce((a, b) => a + b, 0) / some.length;
    assert.ok(mean(losses.slice(-5)) < 0.8 * mean(losses.slice(0, 5)), losses.join(" "));
    await runs.run("see", "see");
    await runs.run("see", "see-again");
    runs.assertSame("see", "see-again");
    const { adapter } = await readCheckpoint(findCheckpoint(RunDirectory.open(runs.dir("see")), "last"));
    for (const module of ["vision.patch_proj", "vision.out_proj"])
      assert.ok(adapter?.tensors.has(loraName(module, "B")), module);
    const blind = await loadConfig(runs.dir("see.yaml"), { overrides: [`model=${runs.model}`] });
    const options = trainOptions("flow-grpo", runs.dir("see.yaml"), runs.dir("blind"), { dryRun: true });
    await assert.rejects(train(blind, options), /environment.depth=8.*no depth image/);
  });
});
