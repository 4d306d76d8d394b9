import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { optimizerOptions } from "../../../src/config/optimizer.js";
import { Rng } from "../../../src/core/rng.js";
import { openPolicy, type Policy } from "../../../src/engine/policy.js";
import { openEnvironment } from "../../../src/env/open.js";
import { objective as flowRl } from "../../../src/features/objectives/objectives/flowrl.js";
import { objective as justGrpo } from "../../../src/features/objectives/objectives/just-grpo.js";
import { freshAdapter } from "../../../src/nn/lora.js";
import type { Tensor } from "../../../src/onnx/types.js";
import type { Objective } from "../../../src/rl/objective.js";
import { objective as espo } from "../../../src/rl/objectives/espo.js";
import { objective as flowGrpo } from "../../../src/rl/objectives/flow-grpo.js";
import type { Sample } from "../../../src/train/rollouts/groups.js";
import { canShare, prepareBatches, type ScoredBatch } from "../../../src/train/update.js";
import { smallModel } from "../../support/small-model.js";

/** Rollouts of two prompts: a micro-batch of four spans both groups and leaves one rollout over. */
const GROUPS = [3, 2];
const SIZE = 4;

const SMALL = [
  `model=${await smallModel()}`,
  "environment.letters=1",
  "environment.sizes={train: 4, val: 0, test: 0, heldout: 0}",
];

type Trial = Awaited<ReturnType<typeof open>>;

const policies: Policy[] = [];
after(async () => {
  for (const policy of policies) await policy.close();
});

async function open(objective: Objective, overrides: readonly string[]) {
  const config = await loadConfig("configs/tiny/template-flow-grpo.yaml", {
    command: objective.name,
    overrides: [`objective.kind=${objective.name}`, "objective.kl_coeff=0.1", ...SMALL, ...overrides],
  });
  const optimizer = optimizerOptions(config);
  const policy = await openPolicy(config, { objective, options: config.objective, optimizer });
  policies.push(policy);
  // B of a fresh adapter is 0, which would leave A without a gradient
  const noise = Rng.named(1, "adapter");
  const moved = (t: Tensor): Tensor => {
    return { ...t, data: (t.data as Float32Array).map((x) => x + 0.01 * noise.normal()) } as Tensor;
  };
  const fresh = [...freshAdapter(policy.sites, policy.lora, noise)];
  const adapter = new Map(fresh.map(([name, t]) => [name, moved(t)]));
  await policy.engine.setParameters("policy", adapter);
  await policy.engine.setParameters("reference", adapter);
  await policy.engine.setOptimizer(undefined);
  const environment = await openEnvironment(config);
  const tasks = Rng.named(2, "tasks").shuffle(environment.tasks).slice(0, GROUPS.length);
  const starts = tasks.flatMap((task, g) => {
    const start = policy.startOf(environment.firstObservation?.(task) ?? {});
    return Array.from({ length: GROUPS[g] as number }, () => start);
  });
  await environment.close();
  const rngs = starts.map((_, i) => Rng.named(3, `rollout/${i}`));
  const trajectories = await policy.sampler.rollout(policy.engine, starts, policy.options, rngs);
  const samples = trajectories.map((trajectory, i): Sample => {
    return { trajectory, credit: i % 2 === 0 ? 1 : -0.5, stream: (name) => Rng.named(4, `${name}/${i}`) };
  });
  return { policy, objective, options: config.objective, samples };
}

type Gradients = ReadonlyMap<string, Tensor>;

/** @returns values of all segments by trajectory and step, the gradient, and the number of tokens of the passes. */
async function run(
  { policy, objective, options, samples }: Trial,
  share: boolean,
): Promise<{ values: Map<string, number>; gradients: Gradients; read: number }> {
  const prepared = await prepareBatches({ policy, objective, options, size: SIZE, share }, [samples]);
  const values = new Map<string, number>();
  let read = 0;
  for (const { batch, trajectories } of prepared) {
    const { logProb: value } = await policy.engine.score(batch, "policy");
    batch.owner.forEach((b, s) => {
      if (b < 0) return;
      const i = samples.findIndex(({ trajectory }) => trajectory === trajectories[b]);
      values.set([i, batch.step[s], batch.position?.[s]].join(), value[s] as number);
    });
    read += batch.inputs.input_ids?.data.length ?? 0;
  }
  for (const micro of prepared) await policy.engine.accumulate(micro.batch, offPolicy(micro));
  const gradients = await policy.engine.getGradients();
  policy.engine.discardGradients();
  return { values, gradients, read };
}

/** Shifts the old values a little, so that ratios and penalties contribute to the gradient. */
const offPolicy = ({ values }: ScoredBatch): ScoredBatch["values"] => ({
  ...values,
  old: values.old.map((x) => x - 0.05),
  reference: values.reference.map((x) => x + 0.05),
});

function largest(a: Iterable<number>, b: Iterable<number>): number {
  const other = [...b];
  return Math.max(...[...a].map((x, i) => Math.abs(x - (other[i] as number))));
}

describe("a prompt that is read once for its rollouts", () => {
  const CASES: readonly (readonly [string, Objective, ...string[]])[] = [
    ["flow-grpo", flowGrpo as Objective],
    ["flow-grpo, one mask a slot", flowGrpo as Objective, "sampler.slot_fill=single-mask", "sampler.order=blanks"],
    ["flow-grpo, no masks", flowGrpo as Objective, "sampler.slot_fill=next-token", "sampler.order=blanks"],
    ["espo, no masks", espo as Objective, "sampler.slot_fill=next-token", "sampler.order=blanks"],
    ["flow-grpo, slots one token after the other", flowGrpo as Objective, "sampler.slot_fill=autoregressive"],
    ["espo, two coupled samples", espo as Objective, "objective.mc_samples=2", "objective.coupled=true"],
    ["just-grpo, text from left to right", justGrpo as Objective],
    ["plans written freely", flowGrpo as Objective, "plan=free"],
  ];
  for (const [name, objective, ...overrides] of CASES) {
    it(`gives the same values and gradients: ${name}`, async () => {
      const trial = await open(objective, ["environment.style=page", "sampler.prompt_length=256", ...overrides]);
      assert.equal(await canShare(trial.policy, objective), true);
      const [alone, shared] = [await run(trial, false), await run(trial, true)];
      assert.deepEqual([...shared.values.keys()].sort(), [...alone.values.keys()].sort());
      const pairs = [...alone.values].map(([key, value]) => [value, shared.values.get(key) as number]);
      const apart = Math.max(...pairs.map(([a, b]) => Math.abs((a as number) - (b as number))));
      assert.ok(apart < 1e-4, `values differ by ${apart}`);
      let scale = 0;
      for (const [, tensor] of alone.gradients)
        scale = Math.max(scale, ...(tensor.data as Float32Array).map((x) => Math.abs(x)));
      assert.ok(scale > 1e-6, "no gradient");
      for (const [key, tensor] of alone.gradients) {
        const off = largest(tensor.data as Float32Array, shared.gradients.get(key)?.data as Float32Array);
        assert.ok(off < 1e-4 * scale, `${key} differs by ${off} of ${scale}`);
      }
      // threads that add to the same row would lose terms at random, so a second run would differ
      if (name === "flow-grpo") assert.deepEqual((await run(trial, true)).gradients, shared.gradients);
      assert.ok(shared.read < alone.read, `${shared.read} tokens instead of ${alone.read}`);
    });
  }

  it("is not shared where the objective reads hidden states of the prompt, or tokens see what lies behind them", async () => {
    const { policy } = await open(flowGrpo as Objective, []);
    assert.equal(await canShare(policy, flowRl), false);
    const model = { ...policy.options.model, attention: "bidirectional" as const };
    assert.equal(await canShare({ engine: policy.engine, options: { ...policy.options, model } }, flowGrpo), false);
  });
});
