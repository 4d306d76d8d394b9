import assert from "node:assert/strict";
import { after, it } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { loadFolder } from "../../../src/core/registry.js";
import { Rng } from "../../../src/core/rng.js";
import type { Policy } from "../../../src/engine/policy.js";
import { openContext, randomPrompts } from "../../../src/features/verify/context.js";
import type { Tensor } from "../../../src/onnx/types.js";
import type { Objective } from "../../../src/rl/objective.js";
import { drawHalves, HalfGradients, type Halves } from "../../../src/train/noise/gradient-noise.js";
import { type Group, type Sample, samplesOf } from "../../../src/train/rollouts/groups.js";
import { type MicroBatch, prepareBatches, takeStep } from "../../../src/train/update.js";
import { rolloutRecord } from "../../support/rollout-record.js";

/** Computes |x - y| / |y| over all tensors. */
function difference(x: ReadonlyMap<string, Tensor>, y: ReadonlyMap<string, Tensor>): number {
  let [error, size] = [0, 0];
  for (const [name, { data }] of y) {
    (data as Float32Array).forEach((value, i) => {
      error += ((x.get(name)?.data[i] as number) - value) ** 2;
      size += value ** 2;
    });
  }
  return Math.sqrt(error / size);
}

for (const [file, command, options] of [
  ["quickstart", "flow-grpo", { steps_per_update: 2 }],
  ["quickstart", "espo", {}],
  ["fsdfm-flow-grpo", "flow-grpo", { steps_per_update: 2 }],
  ["fsdfm-flow-grpo", "espo", {}],
] as const) {
  it(`an update in halves is the update as it was: ${command} on the model of ${file}.yaml`, async () => {
    const overrides = ["sampler.response_length=16", "sampler.prompt_length=8", "runtime.threads=1"];
    const config = await loadConfig(`configs/tiny/${file}.yaml`, { command: "flow-grpo", overrides });
    const objectives = await loadFolder<Objective>(new URL("../../../src/rl/objectives", import.meta.url), "objective");
    const objective = objectives.get(command) as Objective;
    const trial = { objective, options: objective.schema.parse(options) };
    const prompts = async ({ model }: Policy): Promise<number[][]> =>
      randomPrompts(model, 10, 8, Rng.named(1, "prompts"));
    const context = await openContext(config, [trial], prompts);
    const policy = await context.open(trial);
    after(() => policy.close());
    after(() => context.close());
    const { engine, sampler } = policy;
    const start = await engine.getParameters("policy");
    const streams = context.prompts.map((_, i) => Rng.named(2, `rollout/${i}`));
    const trajectories = await sampler.rollout(engine, context.prompts, policy.options, streams);
    const rollouts = trajectories.map((trajectory) => ({ trajectories: [trajectory], record: rolloutRecord() }));
    // five groups of two: the halves differ in size, and neither fills its micro-batches
    const groups = [0, 2, 4, 6, 8].map((first, g): Group => {
      return { rollouts: rollouts.slice(first, first + 2), credit: [[1], [-1 - g / 10]], signal: true };
    });
    const halves = drawHalves(groups, Rng.named(3, "halves")) as Halves;
    // a sample's draws depend on its place in the step, so the halves select from the step's samples
    const samples = samplesOf(groups, 4, 1);
    const parts = halves.map((half) => {
      const own = new Set(half.flatMap((g) => g.rollouts.flatMap((rollout) => rollout.trajectories)));
      return samples.filter(({ trajectory }) => own.has(trajectory));
    });
    const prepare = (some: readonly (readonly Sample[])[]): Promise<MicroBatch[]> =>
      prepareBatches({ policy, objective, options: trial.options, size: 4 }, some);
    const update = async (batches: readonly MicroBatch[], observer?: HalfGradients) => {
      await engine.setParameters("policy", start);
      await engine.setOptimizer(undefined);
      const { grad_norm: norm } = await takeStep(engine, batches, 1, 1e-3, { observer });
      return { norm: norm as number, after: await engine.getParameters("policy") };
    };
    // prepared before any update, since espo's old values come from the current policy
    const [plain, batches] = [await prepare([samples]), await prepare(parts)];
    const expected = await update(plain);
    // the first half has six samples in two micro-batches, the second four in one
    const boundary = 2;
    const found = [plain, batches].map((some) => some.map((b) => b.trajectories.length).join());
    assert.deepEqual(found, ["4,4,2", "4,2,4"]);
    const observer = new HalfGradients(boundary, batches.length);
    const actual = await update(batches, observer);
    assert.ok(difference(actual.after, expected.after) < 1e-6);

    // compares the measurement with the separate gradients of each half
    const sample = observer.sample([3, 2], 10);
    await engine.setParameters("policy", start);
    const gradients: Tensor["data"][][] = [];
    for (const half of [batches.slice(0, boundary), batches.slice(boundary)]) {
      engine.discardGradients();
      for (const { batch, values } of half) await engine.accumulate(batch, values);
      gradients.push([...(await engine.getGradients()).values()].map((t) => t.data));
    }
    const [a, b] = gradients.map((data) => data.flatMap((d) => [...(d as Float32Array)])) as [number[], number[]];
    const dot = (x: readonly number[], y: readonly number[]): number =>
      x.reduce((n, v, i) => n + v * (y[i] as number), 0);
    assert.ok(sample !== null);
    const close = (x: number, y: number): void => assert.ok(Math.abs(x - y) < 1e-4 * Math.abs(y), `${x} for ${y}`);
    close(Math.sqrt(sample.square), expected.norm);
    close(sample.agreement, dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)));
    close(sample.signal, (dot(a, b) * 25) / 6);
    assert.equal(sample.rollouts, 10);
  });
}
