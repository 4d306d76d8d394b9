import { type DrawTape, recordDraws, replayDraws } from "../core/draw-tape.js";
import type { DiscreteRng } from "../core/outcomes.js";
import type { LayoutSizes } from "../diffusion/layouts.js";
import type { TermBatch } from "../diffusion/terms.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { Engine, SegmentValues } from "../engine/engine.js";
import type { Policy } from "../engine/policy.js";
import type { LayoutContext, Objective } from "../rl/objective.js";
import type { Half, Sample } from "./groups.js";

/** Packed sequences are padded to a multiple of this; longer ones to coarser buckets, so that few graphs are ever built. */
const LENGTH_STEP = 16;

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
  /** Those of half 0 come first; all of them where the step is not measured in halves. */
  readonly half: Half;
}

/**
 * Lays samples out in micro-batches: the same samples come in the same order, whatever `rng` draws. Those of half 0 come
 * first and share no micro-batch with the others; what is drawn for a sample is the same as without halves.
 */
export function layOut<O>(
  { sampler, options: sampling }: Pick<Policy, "sampler" | "options">,
  objective: Objective<O>,
  options: O,
  samples: readonly Sample[],
  size: number,
  rng: DiscreteRng,
): LaidOut[] {
  const layout = (chunk: readonly Sample[], batch: number, rng: DiscreteRng): TermBatch => {
    const sizes: LayoutSizes = { batch, lengthStep: LENGTH_STEP };
    const context: LayoutContext = {
      rng,
      steps: (trajectory) => sampler.steps(trajectory),
      stepTerms: (some, layout) => sampler.stepTerms(some, sampling, { ...sizes, ...layout }),
      boundTerms: (some, layout) => sampler.boundTerms(some, sampling, { ...sizes, ...layout, rng }),
      textTerms: (some) => sampler.textTerms(some, sampling, sizes),
    };
    const trajectories = chunk.map((s) => s.trajectory);
    return objective.layout(trajectories, options, context);
  };
  // sequences of similar length share a micro-batch: less padding
  const sorted = [...samples].sort((a, b) => sampler.size(a.trajectory) - sampler.size(b.trajectory));
  const first = sorted.filter(({ half }) => half !== 1);
  const second = sorted.filter(({ half }) => half === 1);
  if (second.length === 0) return chunks(first, size).map((chunk) => ({ terms: layout(chunk, size, rng), chunk }));
  // draws follow the order of all samples, so those of the halves are made before they are laid out
  const tapes = new Map(sorted.map((s) => [s, recordDraws(rng, (draws) => layout([s], 1, draws))]));
  return [...chunks(first, size), ...chunks(second, size)].map((chunk) => {
    const tape = chunk.flatMap((s) => tapes.get(s) as DrawTape);
    return { terms: replayDraws(tape, (draws) => layout(chunk, size, draws)), chunk };
  });
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
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
      half: chunk[0]?.half ?? 0,
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

/**
 * One update: gradients of all micro-batches, then one step.
 * @param observer hears of each micro-batch whose gradient was added.
 */
export async function takeStep(
  engine: Engine,
  batches: readonly MicroBatch[],
  t: number,
  learningRate: number,
  observer?: { accumulated(batch: MicroBatch): Promise<void> },
): Promise<Record<string, number>> {
  const total: Record<string, number> = {};
  for (const batch of batches) {
    const { terms, values } = batch;
    for (const [name, value] of Object.entries(await engine.accumulate(terms, values))) {
      const before = total[name];
      total[name] =
        before === undefined ? value : engine.reduction(name) === "max" ? Math.max(before, value) : before + value;
    }
    await observer?.accumulated(batch);
  }
  // of a random subset of steps the weights sum up to 1 on average only: a mean is over those that were drawn
  if (batches.some(({ terms }) => terms.sampled !== undefined)) {
    const drawn = batches.reduce((sum, { values }) => values.weight.reduce((a, w) => a + w, sum), 0);
    for (const name of Object.keys(total)) {
      if (name !== "loss" && engine.reduction(name) !== "max" && drawn > 0)
        total[name] = (total[name] as number) / drawn;
    }
  }
  return { ...total, grad_norm: await engine.step(t, learningRate) };
}
