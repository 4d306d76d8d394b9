import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadFolder } from "../../src/core/registry.js";
import { Rng } from "../../src/core/rng.js";
import type { Batch } from "../../src/diffusion/layout/batch.js";
import type { RoundModel } from "../../src/diffusion/sampler.js";
import { boundTerms } from "../../src/diffusion/samplers/unmask/elbo.js";
import type { UnmaskOptions } from "../../src/diffusion/samplers/unmask/options.js";
import type { RowStatistics } from "../../src/diffusion/samplers/unmask/round.js";
import type { UnmaskTrajectory } from "../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler as unmask } from "../../src/diffusion/samplers/unmask.js";
import { Engine, type SegmentValues } from "../../src/engine/engine.js";
import { sampledModel } from "../../src/engine/policy.js";
import type { Tensor } from "../../src/onnx/types.js";
import type { LayoutContext, Objective } from "../../src/rl/objective.js";
import { objective as espo } from "../../src/rl/objectives/espo.js";
import { objective as flowGrpo } from "../../src/rl/objectives/flow-grpo.js";
import { objective as grpo } from "../../src/rl/objectives/grpo.js";
import type { Sample } from "../../src/train/rollouts/groups.js";
import { prepareBatches, prepareUpdate, type ScoredBatch } from "../../src/train/update.js";
import { goldenLora, goldenModel, readGolden, relativeError } from "../support/golden.js";
import { assertGradients, assertLoss, goldenAdapter, goldenEngine } from "../support/golden-engine.js";
import { allOutcomes } from "../support/outcomes.js";
import { cpuRuntime } from "../support/temporary.js";
import { having, objectiveOptions } from "../support/typed.js";

const TOLERANCE = 1e-4;
const sampler = having(unmask, "stepTerms", "boundTerms", "textTerms");
const micro = readGolden("micro");
const golden = readGolden("objectives");
const meta = golden.meta as typeof golden.meta & {
  readonly slot_size: number;
  readonly canvas: number;
  readonly mc_samples: number;
  readonly espo_beta: number;
};

const numbers = (name: string): number[] => [...golden.ints(name)].map(Number);
const responses = [0, 1, 2].map((b): UnmaskTrajectory => {
  const [prompt, response] = [numbers(`input.prompt.${b}`), numbers(`input.response.${b}`)];
  const ended = response.length < meta.canvas ? "eos" : "length";
  const { slot_size: slotSize, canvas: responseLength } = meta;
  return { prompt, slotSize, responseLength, temperature: 1, rounds: [], response, ended };
});

describe("objectives on the micro model", () => {
  /** Opens an engine that trains this objective, with the golden's adapter as policy. */
  const engineFor = async <O>(objective: Objective<O>, options: O): Promise<Engine> =>
    goldenEngine(await cpuRuntime(), micro, [objective, options]);

  const sizes = { batch: 4, lengthStep: 32 };

  function context(rngs: readonly Rng[], options = sampling): LayoutContext {
    const of = (some: readonly unknown[]) => some as readonly UnmaskTrajectory[];
    return {
      rngs,
      steps: (t) => sampler.steps(t as UnmaskTrajectory),
      stepTerms: (some, layout) => sampler.stepTerms(of(some), options, { ...sizes, ...layout }),
      boundTerms: (some, layout) => sampler.boundTerms(of(some), options, { ...sizes, ...layout, rngs }),
      textTerms: (some) => sampler.textTerms(of(some), options, sizes),
    };
  }

  /** Pads the golden's values to the batch's segments, with equal weights. */
  function values(name: string, batch: Batch): SegmentValues {
    const real = batch.owner.filter((b) => b >= 0).length;
    const padded = (data: Float32Array): Float32Array =>
      Float32Array.from({ length: batch.segments }, (_, s) => data[s] ?? 0);
    const advantages = golden.floats("input.advantages");
    return {
      old: padded(golden.floats(`input.${name}_old`)),
      reference: padded(golden.floats(`input.${name}_ref`)),
      advantage: Float32Array.from(batch.owner, (b) => (b < 0 ? 0 : (advantages[b] as number))),
      weight: Float32Array.from(batch.owner, (b) => (b < 0 ? 0 : 1 / real)),
    };
  }

  async function compare(name: string, engine: Engine, batch: Batch): Promise<void> {
    const expected = golden.floats(`expect.${name}_value`);
    const { logProb: value } = await engine.score(batch, "policy");
    assert.ok(relativeError(value.subarray(0, expected.length), expected) < TOLERANCE);
    assertLoss(golden, name, (await engine.accumulate(batch, values(name, batch))).loss);
    await assertGradients(golden, `${name}.`, engine);
  }

  it("espo: loss and every LoRA gradient against PyTorch, on given masks", async () => {
    const options = objectiveOptions(espo, { mc_samples: meta.mc_samples, kl_coeff: meta.espo_beta });
    const engine = await engineFor(espo, options);
    let drawn = 0;
    const rngs = responses.map(() => Rng.named(0, "unused"));
    const layout = { ...sizes, samples: meta.mc_samples, coupled: true, rngs };
    const batch = boundTerms(responses, { ...sampling, responseLength: meta.canvas }, layout, (slots) => {
      const key = `${Math.floor(drawn / meta.mc_samples)}.${drawn++ % meta.mc_samples}`;
      const masked = numbers(`input.masked.${key}`).map((m) => m === 1);
      assert.equal(masked.length, slots);
      return { masked, order: numbers(`input.order.${key}`) };
    });
    await compare("espo", engine, batch);
  });

  it("grpo: loss and every LoRA gradient against PyTorch", async () => {
    const options = objectiveOptions(grpo, { kl_coeff: meta.beta, clip_range: meta.clip_range });
    const engine = await engineFor(grpo, options);
    const layout = context([], { ...sampling, responseLength: meta.canvas });
    await compare("grpo", engine, grpo.layout(responses, options, layout));
  });

  const sampling: UnmaskOptions = {
    ...{ rounds: 3, slotSize: 2, responseLength: 8, promptLength: 4, temperature: 0.8, order: "confidence" },
    ...{ slotFill: "parallel", canvasPerPrompt: null, kvCache: "auto" },
    model: { tokens: { mask: 96, pad: 95, eos: 94 }, vocabulary: 97, attention: "causal" },
  };

  async function play(engine: Engine): Promise<Sample[]> {
    const prompts = [[5, 9, 30], [7], [60, 61, 62, 63], [1, 2]];
    const rngs = prompts.map((_, i) => Rng.named(3, `rollout ${i}`));
    const trajectories = await sampler.rollout(engine as RoundModel<RowStatistics>, prompts, sampling, rngs);
    return trajectories.map((trajectory, i) => ({
      trajectory,
      credit: [1, -0.5, -1.5, 0.7][i] as number,
      stream: (name) => Rng.named(0, `${name} ${i}`),
    }));
  }

  async function total(engine: Engine, batches: readonly ScoredBatch[]): Promise<number> {
    let sum = 0;
    for (const { batch, values: v } of batches) sum += (await engine.accumulate(batch, v)).loss as number;
    return sum;
  }

  for (const surrogate of ["ppo", "cispo"] as const) {
    for (const kl_coeff of [0, 3]) {
      it(`espo, ${surrogate}, penalty ${kl_coeff}: a single update needs no scored old values, to the last bit`, async () => {
        const options = objectiveOptions(espo, { surrogate, kl_coeff });
        const engine = await engineFor(espo, options);
        await engine.setParameters("reference", adapter(0.02, 1));
        const samples = await play(engine);
        const context = { policy: { engine, sampler, options: sampling }, objective: espo, options, size: 3 };
        const scored = await prepareBatches(context, [samples]);
        const once = await prepareUpdate(context, [samples], undefined, true);
        assert.ok(once.every(({ values }) => values.old === undefined));
        const results = async (batches: typeof once): Promise<unknown> => {
          const metrics = [];
          for (const { batch, values } of batches) metrics.push(await engine.accumulate(batch, values));
          const gradients = await engine.getGradients();
          engine.discardGradients();
          return { metrics, gradients };
        };
        assert.deepEqual(await results(once), await results(scored));
      });
    }
  }

  for (const level of ["step", "token"] as const) {
    it(`flow-grpo: a random subset of rounds is unbiased (${level} ratio, rollouts of different length)`, async () => {
      const all = objectiveOptions(flowGrpo, { ratio_level: level });
      const two = objectiveOptions(flowGrpo, { ratio_level: level, steps_per_update: 2 });
      const engine = await engineFor(flowGrpo, all);
      await engine.setParameters("reference", adapter(0.02, 1));
      const [first, second] = (await play(engine)) as [Sample, Sample];
      // one rollout of three rounds and one that ended in its first round
      const whole = second.trajectory as UnmaskTrajectory;
      const rounds = whole.rounds.slice(0, 1);
      const short: UnmaskTrajectory = { ...whole, rounds, response: rounds.flatMap((r) => [...r.tokens]) };
      const samples = [first, { ...second, trajectory: short }];
      const actual = samples.map((s) => sampler.steps(s.trajectory as UnmaskTrajectory));
      assert.deepEqual(actual, [3, 1]);
      const policy = { engine, sampler, options: sampling };
      const full = await prepareBatches({ policy, objective: flowGrpo, options: all, size: 2 }, [samples]);
      // every sample's stream reads its draws from the same list of all outcomes
      const outcomes = allOutcomes((rng) => {
        const drawing = samples.map((sample): Sample => ({ ...sample, stream: () => rng as Rng }));
        return prepareBatches({ policy, objective: flowGrpo, options: two, size: 2 }, [drawing]);
      });
      await engine.setParameters("policy", adapter(0.03, 2));
      const expected = await total(engine, full);
      let mean = 0;
      for (const { value, probability } of outcomes) mean += probability * (await total(engine, await value));
      assert.equal(outcomes.length, 6);
      assert.ok(Math.abs(mean - expected) < 1e-5, `${mean} against ${expected}`);
    });
  }

  it("flow-grpo: a sequence ratio of a subset of rounds is refused", () => {
    assert.equal(flowGrpo.schema.safeParse({ ratio_level: "sequence", steps_per_update: 2 }).success, false);
    assert.equal(flowGrpo.schema.safeParse({ ratio_level: "sequence" }).success, true);
  });

  it("every objective that learns from rollouts lays out all that it scores: padding weighs nothing", async () => {
    const objectives = await loadFolder<Objective>(new URL("../../src/rl/objectives/", import.meta.url), "objective");
    assert.ok(objectives.size >= 4);
    const model = await goldenModel(micro);
    const about = sampledModel(model.config);
    const engine = new Engine(await cpuRuntime(), model, { sampler, about, lora: goldenLora(micro) });
    await engine.setParameters("policy", goldenAdapter(micro));
    const trajectory = (await play(engine))[0]?.trajectory as UnmaskTrajectory;
    for (const [name, objective] of objectives) {
      assert.equal(objective.name, name);
      if (objective.learnsFrom !== "rollouts") continue;
      const options = objective.schema.parse({});
      const batch = objective.layout([trajectory], options, context([Rng.named(1, name)]));
      const scored = [...batch.coefficient].filter((c) => c !== 0).length;
      assert.ok(scored >= trajectory.response.length, `${name} scores ${scored} terms`);
      batch.coefficient.forEach((c, r) => {
        if (c !== 0) assert.equal(batch.owner[Number(batch.segment[r])], 0, name);
      });
      const actual = batch.owner.every((b) => b <= 0);
      assert.ok(actual, name);
    }
  });
});

/** Adds noise of a given size to every matrix of the golden's adapter. */
function adapter(noise: number, seed: number): Map<string, Tensor> {
  const rng = Rng.named(seed, "noise");
  const moved = (of: Tensor): Tensor => {
    return { ...of, data: (of.data as Float32Array).map((x) => x + noise * rng.normal()) };
  };
  return new Map([...goldenAdapter(micro)].map(([name, tensor]) => [name, moved(tensor)]));
}
