import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Rng } from "../../../../src/core/rng.js";
import type { Batch } from "../../../../src/diffusion/layout/batch.js";
import type { StepLayout } from "../../../../src/diffusion/layout/scorings.js";
import { type RoundModel, refusalOf } from "../../../../src/diffusion/sampler.js";
import { Engine } from "../../../../src/engine/engine.js";
import { sampledModel } from "../../../../src/engine/policy.js";
import type { FlowOptions } from "../../../../src/features/control/flow/options.js";
import { matchingTerms } from "../../../../src/features/control/flow/supervised.js";
import type { FlowTrajectory } from "../../../../src/features/control/flow/trajectory.js";
import { sampler } from "../../../../src/features/control/samplers/flow.js";
import type { ModelConfig } from "../../../../src/nn/config.js";
import type { Model } from "../../../../src/nn/model.js";
import { Runtime } from "../../../../src/onnx/session.js";
import type { Objective } from "../../../../src/rl/objective.js";
import { objective as flowGrpo } from "../../../../src/rl/objectives/flow-grpo.js";
import { objective as sft } from "../../../../src/rl/objectives/sft.js";
import { GOLDEN_OPTIMIZER, type Golden, readGolden, under } from "../../../support/golden.js";
import { flowOptions, VELOCITY, VELOCITY_WITH_DEPTH, velocityModel } from "../velocity-model.js";

const STEPS = 3;
const SIZE = 6;

/** Largest difference, relative to the norm of what is expected. */
function distance(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  const norm = Math.hypot(...Array.from(expected));
  return Math.hypot(...Array.from(expected, (x, i) => x - (actual[i] as number))) / Math.max(norm, 1e-12);
}

describe("a flow policy", () => policyTests(readGolden("control"), VELOCITY, 5));
describe("a flow policy that sees a depth image", () =>
  policyTests(readGolden("control-depth"), VELOCITY_WITH_DEPTH, 5 + 8 * 8));

/** @param seen numbers of what the policy sees. */
function policyTests(golden: Golden, config: ModelConfig, seen: number): void {
  const rows = (name: string, size: number): number[][] => {
    const flat = golden.floats(name);
    return Array.from({ length: flat.length / size }, (_, i) => [...flat.subarray(i * size, (i + 1) * size)]);
  };
  let runtime: Runtime;
  let model: Model;
  before(async () => {
    runtime = await Runtime.open({ provider: "cpu" });
    model = await velocityModel(under(golden, "weight."), config);
  });
  after(() => runtime.close());

  const engineFor = async <O>(objective: Objective<O>, section: object): Promise<Engine> => {
    const engine = new Engine(runtime, model, {
      sampler,
      about: sampledModel(model.config),
      lora: undefined,
      training: { objective, options: objective.schema.parse(section), optimizer: GOLDEN_OPTIMIZER },
    });
    engine.checkTrainable();
    await engine.setParameters("policy", engine.weights());
    await engine.setOptimizer(undefined);
    return engine;
  };
  const assertGradients = async (engine: Engine, prefix: string): Promise<void> => {
    const gradients = await engine.getGradients();
    const expected = under(golden, prefix);
    assert.equal(gradients.size, expected.size);
    for (const [name, { data }] of expected) {
      const off = distance(gradients.get(name)?.data as Float32Array, data as Float32Array);
      assert.ok(off < 1e-4, `${name}: ${off}`);
    }
  };
  const recorded = (): FlowTrajectory[] => {
    const x = rows("path.x", SIZE);
    const logProbs = [...golden.floats("expect.log_probs")];
    return rows("path.state", seen).map((state, b) => ({
      state,
      path: x.slice(b * (STEPS + 1), (b + 1) * (STEPS + 1)),
      logProbs: logProbs.slice(b * STEPS, (b + 1) * STEPS),
      temperature: Math.fround(0.4),
    }));
  };
  const terms = (trajectories: readonly FlowTrajectory[], options: FlowOptions, layout: object = {}): Batch =>
    sampler.stepTerms?.(trajectories, options, { batch: 3, lengthStep: 16, level: "step", ...layout }) as Batch;
  /** Asserts that trajectories survive JSON and, in any layout, have the values that they recorded. */
  const assertRecorded = async (
    engine: Engine,
    drawn: readonly FlowTrajectory[],
    options: FlowOptions,
    layouts: readonly Partial<StepLayout>[],
    tolerance: (was: number) => number,
  ): Promise<void> => {
    for (const trajectory of drawn)
      assert.deepEqual(sampler.parse(JSON.parse(JSON.stringify(trajectory)), "here", options.model), trajectory);
    for (const layout of [{}, { level: "sequence" }, { reduction: "mean" }, ...layouts] as const) {
      const batch = terms(drawn, options, { batch: 2, ...layout });
      const { logProb: value } = await engine.score(batch, "policy");
      value.forEach((x, s) => {
        const was = batch.logProb?.[s] as number;
        if ((batch.owner[s] as number) >= 0) assert.ok(Math.abs(x - was) < tolerance(was), `${x} for ${was}`);
      });
    }
  };
  /** Six values of segments, and zeros for what pads them. */
  const padded = (value: (s: number) => number): Float32Array =>
    Float32Array.from({ length: 9 }, (_, s) => (s < 6 ? value(s) : 0));
  /** The loss of a batch with these old values, in which the first trajectory was better than the second. */
  const lossOf = async (engine: Engine, batch: Batch, old: Float32Array): Promise<number> => {
    const advantage = padded((s) => (s < STEPS ? 1.3 : -0.7));
    const { loss } = await engine.accumulate(batch, { old, reference: old, advantage, weight: padded(() => 1 / 6) });
    return loss as number;
  };

  it("is trained by conditional flow matching, as PyTorch computes it", async () => {
    const engine = await engineFor(sft, {});
    const [state, actions, noise] = [rows("point.state", seen), rows("point.actions", SIZE), rows("point.noise", SIZE)];
    const points = [...golden.floats("point.time")].map((time, b) => ({
      time,
      state: state[b] as number[],
      actions: actions[b] as number[],
      noise: noise[b] as number[],
    }));
    const batch = matchingTerms(points, flowOptions(model));
    const one = Float32Array.of(1);
    const { loss } = await engine.accumulate(batch, { old: one, reference: one, advantage: one, weight: one });
    assert.ok(distance([loss as number], golden.floats("expect.cfm")) < 1e-4);
    await assertGradients(engine, "expect.cfm_grad.");
  });

  it("has the log-probabilities of Flow-GRPO's stochastic steps, and their clipped gradient", async () => {
    const engine = await engineFor(flowGrpo, { kl_coeff: 0, clip_range: 0.2 });
    const batch = terms(recorded(), flowOptions(model, { steps: STEPS, temperature: 0.4 }));
    const { logProb: value } = await engine.score(batch, "policy");
    const expected = golden.floats("expect.log_probs");
    assert.ok(distance(value, expected) < 1e-5);
    assert.deepEqual(batch.owner, [0, 0, 0, 1, 1, 1, -1, -1, -1]);
    const ahead = golden.floats("path.ahead");
    const old = padded((s) => (expected[s] as number) - (ahead[s] as number));
    assert.ok(distance([await lossOf(engine, batch, old)], golden.floats("expect.loss")) < 1e-4);
    await assertGradients(engine, "expect.grad.");
  });

  it("has the surrogate ratio of its flow-matching loss, a ratio a pair, and its clamped and clipped gradient", async () => {
    const engine = await engineFor(flowGrpo as never, { kl_coeff: 0, clip_range: 0.01, ratio_clamp: 0.04 });
    const losses = golden.floats("expect.pair_losses");
    const [noise, time] = [rows("pair.noise", SIZE), golden.floats("pair.time")];
    const drawn = recorded().map((trajectory, b) => ({
      ...trajectory,
      pairs: [0, 1, 2].map((m) => ({
        time: time[b * 3 + m] as number,
        noise: noise[b * 3 + m] as number[],
        loss: losses[b * 3 + m] as number,
      })),
    }));
    const options = flowOptions(model, { ratio: "cfm", pairs: 3 });
    const batch = terms(drawn, options);
    const value = (await engine.score(batch, "policy")).logProb.map((x) => -x);
    assert.ok(distance(value.subarray(0, 6), losses) < 1e-4);
    const ahead = golden.floats("pair.ahead");
    // l_old - l is what the golden has ahead
    const old = padded((s) => -(losses[s] as number) - (ahead[s] as number));
    assert.ok(distance([await lossOf(engine, batch, old)], golden.floats("expect.surrogate")) < 1e-4);
    await assertGradients(engine, "expect.pair_grad.");
  });

  it("records the loss of each pair that it draws, and is scored as it recorded", async () => {
    const engine = await engineFor(flowGrpo as never, {});
    const options = flowOptions(model, { steps: 2, temperature: 0, ratio: "cfm", pairs: 3 });
    assert.equal(refusalOf(sampler as never, "steps", options)?.reason, undefined);
    const states = rows("path.state", seen).map((state) => Float32Array.from(state));
    const rngs = states.map((_, i) => Rng.named(1, `pairs/${i}`));
    const drawn = await sampler.rollout(engine as never, states, options, rngs, 4);
    for (const trajectory of drawn) assert.equal(sampler.steps(trajectory), 3);
    const tolerance = (was: number): number => 1e-5 * Math.max(1, Math.abs(was));
    await assertRecorded(engine, drawn, options, [{ subset: [[2], [0, 1]] }], tolerance);
    assert.throws(() => terms(recorded(), options), /not recorded for sampler.ratio=cfm/);
  });

  it("is scored as it was sampled, at every level and in any subset", async () => {
    const engine = await engineFor(flowGrpo, {});
    const options = flowOptions(model, { steps: 4, temperature: 0.3 });
    const states = rows("path.state", seen).map((state) => Float32Array.from(state));
    const rngs = (): Rng[] => states.map((_, i) => Rng.named(1, `rollout/${i}`));
    const draw = (some: readonly Float32Array[], batch?: number): Promise<FlowTrajectory[]> =>
      sampler.rollout(engine as RoundModel<Float32Array>, some, options, rngs(), batch);
    const drawn = await draw(states);
    // a product of one row may be summed in another order
    (await draw(states, 1)).forEach(({ path }, b) => {
      assert.ok(distance(path.flat(), drawn[b]?.path.flat() ?? []) < 1e-5, "batching changes no noise");
    });
    assert.notDeepEqual(drawn[0]?.path[0], drawn[1]?.path[0]);
    await assertRecorded(engine, drawn, options, [{ subset: [[1, 3], [0]] }], () => 2e-4);
    const numbers = terms(drawn, options, { batch: 2, level: "token" });
    const { logProb: value } = await engine.score(numbers, "policy");
    const total = drawn.flatMap(({ logProbs }) => logProbs).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(value.reduce((a, b) => a + b, 0) - total) < 1e-3);
  });

  it("refuses steps without noise to be trained on, and trajectories that cannot be", async () => {
    assert.match(refusalOf(sampler, "steps", flowOptions(model, { temperature: 0 }))?.reason ?? "", /deterministic/);
    assert.equal(refusalOf(sampler, "steps", flowOptions(model))?.reason, undefined);
    const [one] = recorded() as [FlowTrajectory];
    const { model: about } = flowOptions(model);
    assert.throws(() => sampler.parse({ ...one, logProbs: [100, 0, 0] }, "line 1", about), /line 1.*above/);
    assert.throws(() => sampler.parse({ ...one, logProbs: [] }, "line 1", about), /0 log-probabilities/);
    assert.throws(() => sampler.parse({ ...one, path: [[1, 2], [1]] }, "line 1", about), /different numbers/);
  });
}
