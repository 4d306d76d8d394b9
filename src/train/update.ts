import type { DiscreteRng } from "../core/outcomes.js";
import type { LayoutSizes } from "../diffusion/sampler.js";
import type { TermBatch } from "../diffusion/terms.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { LayoutContext, Objective } from "../rl/objective.js";
import type { Engine, SegmentValues } from "./engine.js";
import type { Sample } from "./groups.js";
import type { Policy } from "./policy.js";

/** Packed sequences are padded to a multiple of this, so that few graphs are ever built. */
const LENGTH_STEP = 64;

/** Trajectories of a micro-batch, laid out by an objective. */
export interface LaidOut {
  readonly terms: TermBatch;
  readonly chunk: readonly Sample[];
}

/** A laid-out micro-batch with the values its loss compares. */
export interface MicroBatch {
  readonly terms: TermBatch;
  /** What the terms' `owner` counts. */
  readonly trajectories: readonly Trajectory[];
  readonly values: SegmentValues;
}

/** Lays samples out in micro-batches: the same samples come in the same order, whatever `rng` draws. */
export function layOut<O>(
  { sampler, options: sampling }: Pick<Policy, "sampler" | "options">,
  objective: Objective<O>,
  options: O,
  samples: readonly Sample[],
  size: number,
  rng: DiscreteRng,
): LaidOut[] {
  const sizes: LayoutSizes = { batch: size, lengthStep: LENGTH_STEP };
  const context: LayoutContext = {
    rng,
    steps: (trajectory) => sampler.steps(trajectory),
    stepTerms: (some, layout) => sampler.stepTerms(some, sampling, { ...sizes, ...layout }),
    boundTerms: (some, layout) => sampler.boundTerms(some, sampling, { ...sizes, ...layout, rng }),
    textTerms: (some) => sampler.textTerms(some, sampling, sizes),
  };
  // sequences of similar length share a micro-batch: less padding
  const sorted = [...samples].sort((a, b) => sampler.size(a.trajectory) - sampler.size(b.trajectory));
  const laidOut: LaidOut[] = [];
  for (let i = 0; i < sorted.length; i += size) {
    const chunk = sorted.slice(i, i + size);
    const trajectories = chunk.map((s) => s.trajectory);
    laidOut.push({ terms: objective.layout(trajectories, options, context), chunk });
  }
  return laidOut;
}

/**
 * Lays samples out in micro-batches and fixes everything the loss compares with: old values from the rollout itself
 * (or a scoring pass, where the objective needs one), reference values, advantages, weights that sum to 1 over the step.
 */
export async function prepareBatches<O>(
  policy: { readonly engine: Pick<Engine, "score"> } & Pick<Policy, "sampler" | "options">,
  objective: Objective<O>,
  options: O,
  samples: readonly Sample[],
  size: number,
  rng: DiscreteRng,
): Promise<MicroBatch[]> {
  const { engine } = policy;
  const layouts = layOut(policy, objective, options, samples, size, rng);
  const segments = layouts.reduce(
    (n, { terms }) => n + (terms.sampled?.of ?? terms.owner.filter((b) => b >= 0).length),
    0,
  );
  const batches: MicroBatch[] = [];
  for (const { terms, chunk } of layouts) {
    const old = terms.recorded ?? (await engine.score(terms, "policy")).value;
    const reference = objective.penalty(options) > 0 ? (await engine.score(terms, "reference")).value : old;
    batches.push({
      terms,
      trajectories: chunk.map((s) => s.trajectory),
      values: {
        old,
        reference,
        advantage: Float32Array.from(terms.owner, (b) => (b < 0 ? 0 : (chunk[b] as Sample).advantage)),
        weight: Float32Array.from(terms.owner, (b, s) => (b < 0 ? 0 : (terms.sampled?.share[s] ?? 1) / segments)),
      },
    });
  }
  return batches;
}

/** One update: gradients of all micro-batches, then one step. */
export async function takeStep(
  engine: Engine,
  batches: readonly MicroBatch[],
  t: number,
  learningRate: number,
): Promise<Record<string, number>> {
  const total: Record<string, number> = {};
  for (const { terms, values } of batches) {
    for (const [name, value] of Object.entries(await engine.accumulate(terms, values))) {
      const before = total[name];
      total[name] =
        before === undefined ? value : engine.reduction(name) === "max" ? Math.max(before, value) : before + value;
    }
  }
  return { ...total, grad_norm: await engine.step(t, learningRate) };
}
