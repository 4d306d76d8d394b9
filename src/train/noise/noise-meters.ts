import { Rng } from "../../core/rng.js";
import { variance } from "../../core/statistics.js";
import type { StepContext } from "../context.js";
import type { Group, Sample } from "../rollouts/groups.js";
import { type BatchContext, type GradientObserver, type LaidOut, layOut, type MicroBatch } from "../update.js";
import { drawHalves, GradientNoise, type GradientNoiseState, HalfGradients, type Halves } from "./gradient-noise.js";

/** Observes the first update of one step. */
export interface StepNoise extends GradientObserver {
  /** The samples, in parts that share no micro-batch: the halves whose gradients are compared, or all as one part. */
  readonly parts: readonly (readonly Sample[])[];
  /** Micro-batches of the first part. */
  readonly boundary: number;
  /** Called before the updates. @param batches of the parts, in order. */
  begin(batches: readonly MicroBatch[]): Promise<void>;
  /** Called after the updates; returns the measures, null for those not taken. */
  metrics(): Promise<Record<string, number | null>>;
}

/** Measures the noise of gradients and ratios beside the training, whose random draws do not depend on it. */
export class NoiseMeters {
  private readonly gradient: GradientNoise;

  constructor(
    private readonly context: Omit<StepContext, "executor">,
    state: GradientNoiseState | undefined,
  ) {
    this.gradient = new GradientNoise(state);
  }

  /** Returns the state for a checkpoint. */
  get state(): GradientNoiseState {
    return this.gradient.state;
  }

  /** Returns the meters of one step, for its training samples. */
  of(step: number, groups: readonly Group[], samples: readonly Sample[]): StepNoise {
    const { context, gradient } = this;
    const { objective, options, size, seed } = context;
    const { gradient_noise_every: every } = context.training;
    const due = (n: number): boolean => n > 0 && step % n === 0 && samples.length > 0;
    const halves = due(every) ? drawHalves(groups, Rng.named(seed, `gradient-noise/${step}`)) : undefined;
    const parts = partsOf(samples, halves);
    const boundary = Math.ceil((parts[0]?.length ?? 0) / size);
    let inHalves: HalfGradients | undefined;
    let masks: MaskNoise | undefined;
    return {
      parts,
      boundary,
      async begin(batches) {
        if (halves !== undefined) inHalves = new HalfGradients(boundary, batches.length);
        if (due(objective.noiseEvery?.(options) ?? 0)) masks = await MaskNoise.begin(context, parts, batches);
      },
      async accumulated(index, gradients) {
        await inHalves?.accumulated(index, gradients);
      },
      async metrics() {
        const measured = halves && inHalves?.sample([halves[0].length, halves[1].length], samples.length);
        if (measured) gradient.add(measured);
        return {
          gradient_agreement: measured?.agreement ?? null,
          gradient_noise_fraction: measured ? gradient.fraction : null,
          gradient_noise_scale: measured ? gradient.scale : null,
          mask_noise_fraction: (await masks?.fraction()) ?? null,
        };
      },
    };
  }
}

/** Splits samples into halves. A sample's draws depend on its place in the step, so the samples are not renumbered. */
function partsOf(samples: readonly Sample[], halves: Halves | undefined): readonly (readonly Sample[])[] {
  if (halves === undefined) return [samples];
  const first = new Set(halves[0].flatMap(({ rollouts }) => rollouts.flatMap(({ trajectories }) => trajectories)));
  const inFirst = ({ trajectory }: Sample): boolean => first.has(trajectory);
  return [samples.filter(inFirst), samples.filter((sample) => !inFirst(sample))];
}

/** Variance of a log-ratio per token below which it is float32 rounding. */
const ROUNDING = 1e-12;

/** Compared segments, with their values under the sampling policy. */
interface Compared extends Pick<LaidOut, "batch"> {
  readonly old: Float32Array;
}

/**
 * Estimates the share of a step's log-ratios that is noise of their random draws. Two sets of draws, the step's own and
 * a second one, give every response two independent estimates d1, d2 of (ELBO - ELBO_old) / L after the updates:
 *
 *   fraction = Var(d1 - d2) / (Var d1 + Var d2)      over the step's responses
 *
 * Var(d1 - d2) / 2 estimates the variance of the noise and (Var d1 + Var d2) / 2 that of an estimate, noise and signal.
 * 0: other masks give the same ratios; 1: they have nothing in common.
 */
export class MaskNoise {
  private constructor(
    private readonly policy: BatchContext<unknown>["policy"],
    private readonly sets: readonly [readonly Compared[], readonly Compared[]],
  ) {}

  /**
   * Called before the updates: scores the second set under the old policy.
   * @param parts the samples from which their batches were made ({@link layOut}).
   * @param batches the step's own.
   */
  static async begin<O>(
    context: BatchContext<O>,
    parts: readonly (readonly Sample[])[],
    batches: readonly MicroBatch[],
  ): Promise<MaskNoise> {
    const own = batches.map(({ batch, values }): Compared => ({ batch, old: values.old as Float32Array }));
    const other: Compared[] = [];
    for (const samples of parts)
      for (const { batch } of layOut(context, samples, "mask-noise"))
        other.push({ batch, old: (await context.policy.engine.score(batch, "policy")).value });
    return new MaskNoise(context.policy, [own, other]);
  }

  /** Called after the updates. Null where the ratios differ by no more than rounding. */
  async fraction(): Promise<number | null> {
    const [first, second] = [await this.logRatios(this.sets[0]), await this.logRatios(this.sets[1])];
    const total = variance(first) + variance(second);
    if (total / 2 < ROUNDING) return null;
    return Math.min(1, variance(first.map((d, i) => d - (second[i] as number))) / total);
  }

  private async logRatios(set: readonly Compared[]): Promise<number[]> {
    const ratios: number[] = [];
    for (const { batch, old } of set) {
      const { value } = await this.policy.engine.score(batch, "policy");
      batch.owner.forEach((owner, s) => {
        if (owner >= 0)
          ratios.push(((value[s] as number) - (old[s] as number)) / Math.max(1, batch.units[s] as number));
      });
    }
    return ratios;
  }
}
