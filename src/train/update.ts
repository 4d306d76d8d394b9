import type { Batch } from "../diffusion/batch.js";
import type { LayoutSizes } from "../diffusion/layouts.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { Engine, SegmentValues } from "../engine/engine.js";
import type { Policy } from "../engine/policy.js";
import type { LayoutContext, Objective } from "../rl/objective.js";
import type { Sample } from "./groups.js";

/** Packed sequences are padded to a multiple of this; longer ones to coarser buckets, so that few graphs are ever built. */
const LENGTH_STEP = 16;

/** Trajectories of a micro-batch, laid out by an objective. */
export interface LaidOut {
  readonly batch: Batch;
  readonly samples: readonly Sample[];
}

/** A laid-out micro-batch with the values its loss compares. */
export interface MicroBatch {
  readonly batch: Batch;
  /** What the batch's `owner` counts. */
  readonly trajectories: readonly Trajectory[];
  readonly values: SegmentValues;
}

/**
 * Lays samples out in micro-batches of `size`: sequences of similar length share one, so that little is padding.
 * @param draws what the samples' own draws are for: `layout` in a step.
 */
export function layOut<O>(
  { sampler, options: sampling }: Pick<Policy, "sampler" | "options">,
  objective: Objective<O>,
  options: O,
  samples: readonly Sample[],
  size: number,
  draws: string,
): LaidOut[] {
  const sizes: LayoutSizes = { batch: size, lengthStep: LENGTH_STEP };
  const sorted = [...samples].sort((a, b) => sampler.size(a.trajectory) - sampler.size(b.trajectory));
  return Array.from({ length: Math.ceil(sorted.length / size) }, (_, i) => {
    const chunk = sorted.slice(i * size, (i + 1) * size);
    const rngs = chunk.map(({ stream }) => stream(draws));
    const has = <K extends "stepTerms" | "boundTerms" | "textTerms">(name: K): NonNullable<Policy["sampler"][K]> => {
      const terms = sampler[name];
      if (terms === undefined) throw new Error(`the sampler has no ${name}: it is refused before a run begins`);
      return terms;
    };
    const context: LayoutContext = {
      rngs,
      steps: (trajectory) => sampler.steps(trajectory),
      stepTerms: (some, layout) => has("stepTerms")(some, sampling, { ...sizes, ...layout }),
      boundTerms: (some, layout) => has("boundTerms")(some, sampling, { ...sizes, ...layout, rngs }),
      textTerms: (some) => has("textTerms")(some, sampling, sizes),
    };
    const trajectories = chunk.map((sample) => sample.trajectory);
    return { batch: objective.layout(trajectories, options, context), samples: chunk };
  });
}

/**
 * Lays samples out in micro-batches and fixes everything the loss compares with: old values from the rollout itself
 * (or a scoring pass, where the objective needs one), reference values, credit, weights that sum to 1 over the step.
 * @param parts samples that share no micro-batch with those of another part.
 */
export async function prepareBatches<O>(
  policy: { readonly engine: Pick<Engine, "score"> } & Pick<Policy, "sampler" | "options">,
  objective: Objective<O>,
  options: O,
  parts: readonly (readonly Sample[])[],
  size: number,
): Promise<MicroBatch[]> {
  const { engine } = policy;
  const layouts = parts.flatMap((samples) => layOut(policy, objective, options, samples, size, "layout"));
  const segments = layouts.reduce(
    (n, { batch }) =>
      n + (batch.sampled?.of ?? batch.owner.reduce((m, b, s) => (b < 0 ? m : m + shareOf(batch, s)), 0)),
    0,
  );
  const needsReference = objective.needs(options).reference;
  const batches: MicroBatch[] = [];
  for (const { batch, samples } of layouts) {
    const trajectories = samples.map((sample) => sample.trajectory);
    const old = batch.recorded ?? (await engine.score(batch, "policy")).value;
    const reference = needsReference ? (await engine.score(batch, "reference")).value : old;
    const extra = objective.feed?.(batch, trajectories, options);
    batches.push({
      batch,
      trajectories,
      values: {
        old,
        reference,
        advantage: Float32Array.from(batch.owner, (b, s) => (b < 0 ? 0 : creditOf(samples[b] as Sample, batch, s))),
        weight: Float32Array.from(batch.owner, (b, s) => (b < 0 ? 0 : shareOf(batch, s) / segments)),
        ...(extra === undefined ? {} : { extra }),
      },
    });
  }
  return batches;
}

/** How much a segment counts: of a random subset, for those that it stands for. */
function shareOf({ share, sampled }: Batch, segment: number): number {
  return (share?.[segment] ?? 1) * (sampled?.share[segment] ?? 1);
}

/** The credit of a segment: its step's where the objective gives one a step, else its turn's. */
function creditOf({ credit }: Sample, batch: Batch, segment: number): number {
  if (typeof credit === "number") return credit;
  const step = batch.step[segment] ?? -1;
  const own = credit[step];
  if (own === undefined) throw new Error(`credit a step needs segments of one step each; this one covers step ${step}`);
  return own;
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
  observer?: { accumulated(index: number): Promise<void> },
): Promise<Record<string, number>> {
  const total: Record<string, number> = {};
  for (const [i, { batch, values }] of batches.entries()) {
    for (const [name, value] of Object.entries(await engine.accumulate(batch, values))) {
      const before = total[name];
      total[name] =
        before === undefined ? value : engine.reduction(name) === "max" ? Math.max(before, value) : before + value;
    }
    await observer?.accumulated(i);
  }
  // of a random subset of steps the weights sum up to 1 on average only: a mean is over those that were drawn
  if (batches.some(({ batch }) => batch.sampled !== undefined)) {
    const drawn = batches.reduce((sum, { values }) => values.weight.reduce((a, w) => a + w, sum), 0);
    for (const name of Object.keys(total)) {
      if (name !== "loss" && engine.reduction(name) !== "max" && drawn > 0)
        total[name] = (total[name] as number) / drawn;
    }
  }
  return { ...total, grad_norm: await engine.step(t, learningRate) };
}
