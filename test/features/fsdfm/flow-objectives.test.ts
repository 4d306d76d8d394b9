import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import type { Batch } from "../../../src/diffusion/layout/batch.js";
import { flowBoundTerms } from "../../../src/features/fsdfm/jump/bound.js";
import type { JumpOptions } from "../../../src/features/fsdfm/jump/options.js";
import { type JumpTrajectory, responseOf } from "../../../src/features/fsdfm/jump/trajectory.js";
import { sampler as jump } from "../../../src/features/fsdfm/samplers/jump.js";
import type { Objective } from "../../../src/rl/objective.js";
import { objective as espo } from "../../../src/rl/objectives/espo.js";
import { objective as flowGrpo } from "../../../src/rl/objectives/flow-grpo.js";
import { goldenModel, readGolden, relativeError } from "../../support/golden.js";
import { assertGradients, assertLoss, goldenEngine } from "../../support/golden-engine.js";
import { cpuRuntime } from "../../support/temporary.js";
import { having, objectiveOptions } from "../../support/typed.js";

const sampler = having(jump, "stepTerms");
const TOLERANCE = 1e-4;
const BATCH = 3; // one more than in the golden, since padding must not count
const golden = readGolden("flow");
const base = readGolden("fsdfm");
const meta = golden.meta as typeof golden.meta & {
  readonly canvas: number;
  readonly steps: number;
  readonly exponent: number;
  readonly samples: number;
  readonly espo_beta: number;
};

const OPTIONS: JumpOptions = {
  steps: meta.steps,
  responseLength: meta.canvas,
  promptLength: 6,
  temperature: meta.temperature,
  exponent: meta.exponent,
  model: { tokens: { mask: 22, pad: 21, eos: 20 }, vocabulary: 23, attention: "bidirectional" },
};

const states = [...golden.ints("input.states")].map(Number);
const trajectories = [0, 1].map((b): JumpTrajectory => {
  const canvas = (k: number): number[] => {
    const from = (b * (meta.steps + 1) + k) * meta.canvas;
    return states.slice(from, from + meta.canvas);
  };
  const logProbs = golden.floats("expect.log_probs");
  return {
    prompt: [...golden.ints(`input.prompt.${b}`)].map(Number),
    responseLength: meta.canvas,
    temperature: meta.temperature,
    exponent: meta.exponent,
    source: canvas(0),
    steps: Array.from({ length: meta.steps }, (_, k) => {
      const from = (b * meta.steps + k) * meta.canvas;
      return { tokens: canvas(k + 1), logProbs: [...logProbs.subarray(from, from + meta.canvas)] };
    }),
    ...responseOf(canvas(meta.steps), 20),
  };
});

const model = await goldenModel(base, { architecture: "fsdfm", attention: "bidirectional" });

describe("objectives on FS-DFM against PyTorch", () => {
  /** Compares the segments' values, the loss and every LoRA gradient of a layout with the golden. */
  async function compare<O>(name: string, objective: Objective<O>, options: O, batch: Batch): Promise<void> {
    const blocks = ["0", "1"].flatMap((i) => [`blocks.${i}.mlp.0`, `blocks.${i}.mlp.2`]);
    const lora = { rank: base.meta.rank, alpha: base.meta.alpha, targets: ["qw", "kw", "vw", "attn_out", ...blocks] };
    const own = { model, sampler, about: OPTIONS.model, lora };
    const engine = await goldenEngine(await cpuRuntime(), base, [objective, options], own);
    const { logProb: value } = await engine.score(batch, "policy");
    const expected = golden.tensors.has(`expect.${name}_value`) ? golden.floats(`expect.${name}_value`) : batch.logProb;
    const real = batch.owner.filter((b) => b >= 0).length;
    assert.ok(relativeError(value.subarray(0, real), (expected as Float32Array).subarray(0, real)) < TOLERANCE);
    const padded = (data: Float32Array): Float32Array =>
      Float32Array.from({ length: batch.segments }, (_, s) => data[s] ?? 0);
    const advantages = golden.floats("input.advantages");
    const { loss } = await engine.accumulate(batch, {
      old: padded(golden.floats(`input.${name}_old`)),
      reference: padded(golden.floats(`input.${name}_ref`)),
      advantage: Float32Array.from(batch.owner, (b) => (b < 0 ? 0 : (advantages[b] as number))),
      weight: Float32Array.from(batch.owner, (b) => (b < 0 ? 0 : 1 / real)),
    });
    assertLoss(golden, name, loss);
    await assertGradients(golden, `${name}.`, engine);
  }

  for (const reduction of ["sum", "mean"] as const) {
    it(`flow-grpo on stay/jump transitions (${reduction}): values, loss and every LoRA gradient`, async () => {
      const options = objectiveOptions(flowGrpo, { reduction, clip_range: meta.clip_range, kl_coeff: meta.beta });
      const layout = { batch: BATCH, lengthStep: 32, level: "step", reduction } as const;
      const batch = sampler.stepTerms(trajectories, OPTIONS, layout);
      await compare(`flow_${reduction}`, flowGrpo, options, batch);
    });
  }

  it("espo on the generalised KL: the bound, loss and every LoRA gradient, on given corruptions", async () => {
    const options = objectiveOptions(espo, { mc_samples: meta.samples, kl_coeff: meta.espo_beta });
    const kappas = golden.tensors.get("input.kappa")?.data as Float64Array;
    const [noisy, noise] = [golden.ints("input.noisy"), golden.ints("input.noise")];
    let drawn = 0;
    const rngs = trajectories.map(() => Rng.named(0, "unused"));
    const layout = { batch: BATCH, lengthStep: 32, samples: meta.samples, coupled: true, rngs };
    const batch = flowBoundTerms(trajectories, OPTIONS, layout, (length) => {
      const of = (data: BigInt64Array): number[] =>
        [...data.subarray(drawn * length, (drawn + 1) * length)].map(Number);
      const draw = { kappa: kappas[drawn] as number, noisy: of(noisy).map((x) => x === 1), noise: of(noise) };
      drawn++;
      return draw;
    });
    await compare("espo", espo, options, batch);
  });
});
