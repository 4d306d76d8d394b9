import { variance } from "../../core/statistics.js";
import type { Sample } from "../rollouts/groups.js";
import { type BatchContext, type LaidOut, layOut, type MicroBatch } from "../update.js";

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
        other.push({ batch, old: (await context.policy.engine.score(batch, "policy")).logProb });
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
      const { logProb } = await this.policy.engine.score(batch, "policy");
      batch.owner.forEach((owner, s) => {
        if (owner >= 0)
          ratios.push(((logProb[s] as number) - (old[s] as number)) / Math.max(1, batch.units[s] as number));
      });
    }
    return ratios;
  }
}
