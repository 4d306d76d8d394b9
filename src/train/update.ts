import type { Batch } from "../diffusion/layout/batch.js";
import type { LayoutSizes } from "../diffusion/layout/scorings.js";
import type { Engine } from "../engine/engine.js";
import type { Policy } from "../engine/policy.js";
import type { PolicyKey } from "../engine/trained-parameters.js";
import type { Tensor } from "../onnx/types.js";
import type { LayoutContext, Objective } from "../rl/objective.js";
import { importanceWeights, normalised, totalShare, type WeighingOptions } from "../rl/weighing.js";
import type { MicroBatch, ScoredBatch } from "./micro-batch.js";
import type { Sample } from "./rollouts/groups.js";
import { accumulateHere, accumulateSlots, type Slots } from "./rollouts/slots.js";

export type { MicroBatch, ScoredBatch } from "./micro-batch.js";

/** Packed sequences are padded to a multiple of this; longer ones to coarser buckets, so that few graphs are built. */
export const LENGTH_STEP = 16;

/** Settings for laying out and scoring micro-batches. */
export interface BatchContext<O> {
  readonly policy: { readonly engine: Pick<Engine, "score"> & Partial<Pick<Engine, "critic">> } & Pick<
    Policy,
    "sampler" | "options"
  >;
  readonly objective: Objective<O>;
  /** The objective's own section of the config. */
  readonly options: O;
  /** B, trajectories per micro-batch. */
  readonly size: number;
  /** Absent: the policy's own engine scores. */
  readonly score?: ScoreAll;
  /** Lets consecutive samples of one prompt read it once. Default: false. */
  readonly share?: boolean;
}

/** Tells whether samples of one prompt can read it once ({@link shareStarts}). */
export async function canShare(
  { engine, options }: { readonly engine: Pick<Engine, "sharesStarts"> } & Pick<Policy, "options">,
  { inputs, readsPrompt = inputs !== undefined }: Pick<Objective, "inputs" | "readsPrompt">,
): Promise<boolean> {
  return options.model.attention === "causal" && !readsPrompt && engine.sharesStarts();
}

/** Trajectories of a micro-batch, laid out by an objective. */
export interface LaidOut {
  readonly batch: Batch;
  readonly samples: readonly Sample[];
}

/**
 * Lays samples out in micro-batches of B: sequences of similar length share one, for little padding; or those of one
 * prompt, which is then read once.
 * @param draws purpose of the samples' random streams: `layout` in a step.
 */
export function layOut<O>(
  { policy, objective, options, size, share }: BatchContext<O>,
  samples: readonly Sample[],
  draws: string,
): LaidOut[] {
  const { sampler, options: sampling } = policy;
  const sizes: LayoutSizes = { batch: size, lengthStep: LENGTH_STEP, share };
  const sorted = share ? samples : [...samples].sort((a, b) => sampler.size(a.trajectory) - sampler.size(b.trajectory));
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

/** Returns the log-probabilities [S] of batches under a policy, in order: computed here or elsewhere. */
export type ScoreAll = (batches: readonly Batch[], key: PolicyKey) => Promise<readonly Float32Array[]>;

/** Scores one batch after the other. */
export function scoreHere(engine: Pick<Engine, "score">): ScoreAll {
  return async (batches, key) => {
    const logProbs: Float32Array[] = [];
    for (const batch of batches) logProbs.push((await engine.score(batch, key)).logProb);
    return logProbs;
  };
}

/** Scores with other parameters in place of the policy's; undefined where there are none. */
export function scoreAs(
  engine: Pick<Engine, "getParameters" | "setParameters">,
  parameters: ReadonlyMap<string, Tensor> | undefined,
  score: ScoreAll,
): Score | undefined {
  if (parameters === undefined) return undefined;
  return async (batches) => {
    const now = await engine.getParameters("policy");
    await engine.setParameters("policy", parameters);
    try {
      return await score(batches, "policy");
    } finally {
      await engine.setParameters("policy", now);
    }
  };
}

type Score = (batches: readonly Batch[]) => Promise<readonly Float32Array[]>;

/**
 * Lays samples out in micro-batches and computes all inputs of the loss: log-probabilities of the old policy and of
 * the reference, credit and weights. The old ones are those of the rollout, or of a scoring pass where the objective needs one. The weights of a
 * step sum to 1, unless length_norm is a constant.
 * @param parts samples that share no micro-batch with those of another part.
 * @param sampledBy scores under an older sampling policy, for log-probabilities that the rollout did not record.
 */
export async function prepareBatches<O>(
  context: BatchContext<O>,
  parts: readonly (readonly Sample[])[],
  sampledBy?: Score,
): Promise<ScoredBatch[]> {
  return (await prepareUpdate(context, parts, sampledBy, false)) as ScoredBatch[];
}

/**
 * Does the same as {@link prepareBatches}, for updates.
 * @param once set if only one gradient compares them. The old policy is then the one that is trained: `old` is absent.
 */
export async function prepareUpdate<O>(
  context: BatchContext<O>,
  parts: readonly (readonly Sample[])[],
  sampledBy: Score | undefined,
  once: boolean,
): Promise<MicroBatch[]> {
  const { policy, objective, options, score = scoreHere(policy.engine) } = context;
  const weighing = objective.weighing?.(options);
  const layouts = parts
    .flatMap((samples) => layOut(context, samples, "layout"))
    .map(({ batch, samples }) => ({ batch: normalised(batch, weighing?.length_norm ?? "own"), samples }));
  const all = layouts.map(({ batch }) => batch);
  const shares = all.reduce((n, batch) => n + (batch.sampled?.of ?? sumOfShares(batch)), 0);
  const segments = totalShare(shares, parts.flat().length, weighing?.length_norm);
  const corrects = (weighing?.importance_cap ?? null) !== null;
  const unrecorded = all.filter((batch) => batch.logProb === undefined);
  const old = await scoresOf(corrects ? all : once ? [] : unrecorded, (some) => score(some, "policy"));
  const sampled = await scoresOf(sampledBy === undefined ? [] : unrecorded, sampledBy);
  const references = await scoresOf(objective.needs(options).reference ? all : [], (some) => score(some, "reference"));
  const { critic } = policy.engine;
  const states = critic === undefined ? [] : await score(all.map(critic.states), "policy");
  return layouts.map(({ batch, samples }, i): MicroBatch => {
    const trajectories = samples.map((sample) => sample.trajectory);
    const before = old.get(batch) ?? batch.logProb;
    const logProb = batch.logProb ?? sampled.get(batch);
    const trust =
      corrects && logProb !== undefined && before !== undefined
        ? importanceWeights({ ...batch, logProb }, before, weighing as WeighingOptions)
        : undefined;
    const perSegment = (value: (sample: Sample, segment: number) => number): Float32Array =>
      Float32Array.from(batch.owner, (b, s) => (b < 0 ? 0 : value(samples[b] as Sample, s)));
    const credit = perSegment((sample, s) => creditOf(sample, batch, s));
    const assessed = critic?.assess(batch, states[i] as Float32Array, credit);
    const advantage = assessed?.advantage ?? credit;
    const extra = { ...objective.feed?.(batch, trajectories, options), ...assessed?.extra };
    return {
      batch,
      trajectories,
      ...(trust === undefined ? {} : { trust }),
      values: {
        old: before,
        reference: references.get(batch) ?? before,
        advantage: trust === undefined ? advantage : advantage.map((a, s) => a * (trust[s] as number)),
        weight: perSegment((_, s) => shareOf(batch, s) / segments),
        ...(Object.keys(extra).length === 0 ? {} : { extra }),
      },
    };
  });
}

/** Returns the scores of batches by batch; without batches nothing is scored. */
async function scoresOf(
  batches: readonly Batch[],
  score: Score | undefined,
): Promise<Map<Batch, Float32Array | undefined>> {
  const scores = batches.length === 0 ? [] : ((await score?.(batches)) ?? []);
  return new Map(batches.map((batch, i) => [batch, scores[i]]));
}

const sumOfShares = (batch: Batch): number =>
  batch.owner.reduce((sum, b, s) => (b < 0 ? sum : sum + shareOf(batch, s)), 0);

/** Returns the weight of a segment; in a random subset, times the number of segments it represents. */
const shareOf = ({ share, sampled }: Batch, segment: number): number =>
  (share?.[segment] ?? 1) * (sampled?.share[segment] ?? 1);

/** Returns the credit of a segment: of its token or step where the objective gives one each, else of its turn. */
function creditOf({ credit }: Sample, batch: Batch, segment: number): number {
  if (typeof credit === "number") return credit;
  if ("tokens" in credit) {
    const token = credit.tokens[batch.position?.[segment] ?? -1];
    if (token === undefined) throw new Error("credit a token needs segments of one token of the response each");
    return token;
  }
  const step = batch.step[segment] ?? -1;
  const ofStep = credit[step];
  if (ofStep === undefined)
    throw new Error(`credit a step needs segments of one step each; this one covers step ${step}`);
  return ofStep;
}

/** Observes each micro-batch whose gradient was added. */
export interface GradientObserver {
  /** Number of micro-batches before the point where one part of the update ends and another begins. */
  readonly boundary: number;
  /** @param gradients those accumulated so far. */
  accumulated(index: number, gradients: () => Promise<ReadonlyMap<string, Tensor>>): Promise<void>;
}

/**
 * Takes one update: gradients of all micro-batches, then one optimizer step. Within a slot micro-batches are
 * accumulated in float32; the sums of several slots are added in float64, in order.
 * @param how an observer of gradients, and their division into slots; by default none, and one slot, here.
 * @returns the metrics of the loss, and `grad_norm`.
 */
export async function takeStep(
  engine: Engine,
  batches: readonly MicroBatch[],
  t: number,
  learningRate: number,
  { observer, slots }: { readonly observer?: GradientObserver | undefined; readonly slots?: Slots } = {},
): Promise<Record<string, number>> {
  const added =
    slots === undefined || slots.count === 1
      ? accumulateHere(engine, batches)
      : accumulateSlots(engine, batches, t, slots, observer?.boundary);
  const metrics: Readonly<Record<string, number>>[] = [];
  const largest = new Set<string>();
  for await (const part of added) {
    metrics.push(...part.metrics);
    for (const name of part.largest) largest.add(name);
    await observer?.accumulated(part.last, part.gradients);
  }
  const weight = batches.reduce((sum, { values }) => values.weight.reduce((a, w) => a + w, sum), 0);
  return { ...combined(metrics, largest, weight), grad_norm: await engine.step(t, learningRate) };
}

/**
 * Combines the metrics of micro-batches: the largest of those named in `largest`, the sum of the others, which are
 * weighted means over all segments.
 * @param weight sum of the segments' weights. Over a random subset it is 1 only on average, and with a constant length
 *   any number: a mean, other than the loss, is then over the segments present.
 */
function combined(
  rows: readonly Readonly<Record<string, number>>[],
  largest: ReadonlySet<string>,
  weight: number,
): Record<string, number> {
  const total: Record<string, number> = {};
  for (const [name, value] of rows.flatMap((row) => Object.entries(row))) {
    const before = total[name];
    total[name] = before === undefined ? value : largest.has(name) ? Math.max(before, value) : before + value;
  }
  if (weight <= 0 || Math.abs(weight - 1) <= 1e-3) return total;
  const isMean = (name: string): boolean => name !== "loss" && !largest.has(name);
  return Object.fromEntries(
    Object.entries(total).map(([name, value]) => [name, isMean(name) ? value / weight : value]),
  );
}
