import { Rng } from "../../core/rng.js";
import type { StepContext } from "../context.js";
import type { Group, Sample } from "../rollouts/groups.js";
import type { GradientObserver, MicroBatch } from "../update.js";
import { drawHalves, GradientNoise, type GradientNoiseState, HalfGradients, partsOf } from "./gradient-noise.js";
import { MaskNoise } from "./mask-noise.js";

/** The measurement of one step, in the order of its calls. */
export interface NoiseOfStep {
  /** The samples, in parts that share no micro-batch. */
  readonly parts: readonly (readonly Sample[])[];
  /** True if it reads the old values of the batches, which a step with a single update does not compute. */
  readonly readsOld: boolean;
  /** Called before the updates. @param batches of the parts, in order; `boundary` of them are of the first part. */
  begin(batches: readonly MicroBatch[], boundary: number): Promise<void>;
  /** Called after each micro-batch of the first update. */
  readonly accumulated: GradientObserver["accumulated"];
  /** Called after the updates. @returns the same keys in every step; null for those not taken. */
  metrics(): Promise<Readonly<Record<string, number | null>>>;
}

/**
 * Measures beside the training how much of a step is noise: of its gradient, every `training.gradient_noise_every`
 * steps, and of the masks of its ratios, in the steps that the objective names. No random draw of the training depends
 * on it.
 */
export class Noise {
  private readonly gradient: GradientNoise;

  /** @param saved state of the checkpoint that the run continues from. */
  constructor(
    private readonly context: Omit<StepContext, "executor">,
    saved: GradientNoiseState | undefined,
  ) {
    this.gradient = new GradientNoise(saved);
  }

  /** State for a checkpoint. */
  get state(): GradientNoiseState {
    return this.gradient.state;
  }

  /** Begins the measurement of a step. @param samples those that are trained on, of the groups with signal. */
  measure(step: number, groups: readonly Group[], samples: readonly Sample[]): NoiseOfStep {
    const { context, gradient } = this;
    const { seed, objective, options, training } = context;
    const isDue = (every: number): boolean => every > 0 && step % every === 0 && samples.length > 0;
    const halves = isDue(training.gradient_noise_every)
      ? drawHalves(groups, Rng.named(seed, `gradient-noise/${step}`))
      : undefined;
    const parts = halves === undefined ? [samples] : partsOf(samples, halves);
    const readsOld = isDue(objective.noiseEvery?.(options) ?? 0);
    let gradients: HalfGradients | undefined;
    let masks: MaskNoise | undefined;
    return {
      parts,
      readsOld,
      async begin(batches, boundary) {
        if (halves !== undefined) gradients = new HalfGradients(boundary, batches.length);
        if (readsOld) masks = await MaskNoise.begin(context, parts, batches);
      },
      accumulated: async (index, accumulated) => gradients?.accumulated(index, accumulated),
      async metrics() {
        const measured = halves && gradients?.sample([halves[0].length, halves[1].length], samples.length);
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
