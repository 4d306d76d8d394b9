import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { loadConfig, type RunConfig } from "../../src/config/config.js";
import { optimizerOptions } from "../../src/config/optimizer.js";
import { Rng } from "../../src/core/rng.js";
import type { TokenTrajectory } from "../../src/diffusion/trajectory.js";
import { openPolicy, type Policy } from "../../src/engine/policy.js";
import { openEnvironment } from "../../src/env/open.js";
import { freshAdapter } from "../../src/nn/lora.js";
import type { Tensor } from "../../src/onnx/types.js";
import type { OptimizerOptions } from "../../src/optim/update-rule.js";
import { objective } from "../../src/rl/objectives/flow-grpo.js";
import { prepareBatches, takeStep } from "../../src/train/update.js";
import { having } from "../support/typed.js";

const TOLERANCE = 1e-5;

/** Makes an adapter with random B matrices, since a fresh adapter would leave the policy equal to the base. */
function randomAdapter(policy: Policy, seed: number): Map<string, Tensor> {
  const rng = Rng.named(seed, "adapter");
  return new Map(
    [...freshAdapter(policy.sites, policy.lora, rng)].map(([name, t]) => [
      name,
      name.includes("lora_B")
        ? { ...t, data: Float32Array.from(t.data as Float32Array, () => 0.01 * rng.normal()) }
        : t,
    ]),
  );
}

describe("what the rollout recorded and what scoring says (shipped model)", () => {
  let config: RunConfig;
  let policy: Policy;
  let trajectories: readonly TokenTrajectory[];

  before(async () => {
    config = await loadConfig("configs/tiny/quickstart.yaml", { command: "flow-grpo" });
    const optimizer: OptimizerOptions = optimizerOptions(config);
    policy = await openPolicy(config, { objective, options: config.objective, optimizer });
    const adapter = randomAdapter(policy, 1);
    await policy.engine.setParameters("policy", adapter);
    await policy.engine.setParameters("reference", adapter);
    await policy.engine.setOptimizer(undefined);
    const environment = await openEnvironment(config);
    const tasks = Rng.named(2, "tasks").shuffle(environment.tasks).slice(0, 8);
    const prompts = tasks.map((task) => policy.startOf(environment.firstObservation?.(task) ?? {}) as number[]);
    await environment.close();
    const rngs = tasks.map((_, i) => Rng.named(3, `rollout/${i}`));
    const played = await policy.sampler.rollout(policy.engine, prompts, policy.options, rngs);
    trajectories = played as TokenTrajectory[];
  });
  after(() => policy.close());

  /** Computes the largest |log p - recorded| over all tokens of some trajectories. */
  async function largestError(some: readonly TokenTrajectory[], packed: boolean): Promise<number> {
    const layout = { batch: some.length, lengthStep: 32, level: "token", packed } as const;
    const terms = having(policy.sampler, "stepTerms").stepTerms(some, policy.options, layout);
    const { logProbs } = await policy.engine.score(terms, "policy");
    const recorded = terms.recorded as Float32Array;
    const real = [...terms.coefficient].flatMap((c, r) => (c === 1 ? [r] : []));
    assert.equal(
      real.length,
      some.reduce((n, t) => n + t.response.length, 0),
    );
    return Math.max(...real.map((r) => Math.abs((logProbs[r] as number) - (recorded[r] as number))));
  }

  it("agree at every position when all rounds are packed into one pass", async () => {
    assert.ok((await largestError(trajectories, true)) < TOLERANCE);
  });

  it("agree round by round", async () => {
    assert.ok((await largestError(trajectories.slice(0, 3), false)) < TOLERANCE);
  });

  it("give a ratio of 1 on the first update, and another one on the second", async () => {
    const samples = trajectories.map((trajectory, i) => ({
      trajectory,
      credit: i % 2 === 0 ? 1 : -1,
      stream: (name: string) => Rng.named(0, `${name} ${i}`),
    }));
    const batches = await prepareBatches<unknown>({ policy, objective, options: config.objective, size: 4 }, [samples]);
    const first = await takeStep(policy.engine, batches, 1, 1e-3);
    assert.ok((first.ratio_error as number) < TOLERANCE, `ratio error ${first.ratio_error}`);
    assert.ok((first.grad_norm as number) > 0);
    const second = await takeStep(policy.engine, batches, 2, 1e-3);
    assert.ok((second.ratio_error as number) > 1e-3);
  });
});
