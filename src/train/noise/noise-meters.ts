import { Rng } from "../../core/rng.js";
import type { StepContext } from "../context.js";
import type { Group, Sample } from "../rollouts/groups.js";
import type { GradientObserver, MicroBatch } from "../update.js";
import { drawHalves, GradientNoise, type GradientNoiseState, HalfGradients, type Halves } from "./gradient-noise.js";
import { MaskNoise } from "./mask-noise.js";

/** Observes the first update of one step. */
export interface StepNoise extends GradientObserver {
  /** The samples, in parts that share no micro-batch: the halves whose gradients are compared, or all in one. */
  readonly parts: readonly (readonly Sample[])[];
  /** Micro-batches of the first part. */
  readonly boundary: number;
  /** Before the updates. @param batches of the parts, in their order. */
  begin(batches: readonly MicroBatch[]): Promise<void>;
  /** Behind the updates: what was measured, null where nothing was. */
  metrics(): Promise<Record<string, number | null>>;
}

/** Says how much of the gradients and of the ratios is noise, measured beside the training: no draw depends on it. */
export class NoiseMeters {
  private readonly gradient: GradientNoise;

  constructor(
    private readonly context: Omit<StepContext, "executor">,
    state: GradientNoiseState | undefined,
  ) {
    this.gradient = new GradientNoise(state);
  }

  /** Gives what a checkpoint keeps. */
  get state(): GradientNoiseState {
    return this.gradient.state;
  }

  /** The meters of one step, for the samples that it trains on. */
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

/** A sample draws by its place in the step: halves are taken of the samples, not numbered anew. */
function partsOf(samples: readonly Sample[], halves: Halves | undefined): readonly (readonly Sample[])[] {
  if (halves === undefined) return [samples];
  const first = new Set(halves[0].flatMap(({ rollouts }) => rollouts.flatMap(({ trajectories }) => trajectories)));
  const inFirst = ({ trajectory }: Sample): boolean => first.has(trajectory);
  return [samples.filter(inFirst), samples.filter((sample) => !inFirst(sample))];
}
