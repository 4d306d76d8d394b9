import { z } from "zod";
import type { RunConfig } from "../config/config.js";

/** State for checkpoints. */
export const earlyStopState = z.object({
  /** Validation reward at the last improvement; null before the first evaluation. */
  mark: z.number().nullable(),
  /** Evaluations since then. */
  stale: z.int().min(0).max(1e12),
});

/**
 * Ends a run whose validation reward no longer improves. The first evaluation of the run sets the mark.
 */
export class EarlyStop {
  constructor(
    private readonly options: RunConfig["training"]["early_stop"],
    public state: Readonly<z.infer<typeof earlyStopState>> = { mark: null, stale: 0 },
  ) {}

  /** @param reward mean over the validation split, 0..1. */
  observe(reward: number): void {
    const { mark, stale } = this.state;
    this.state = mark === null || reward > mark ? { mark: reward, stale: 0 } : { mark, stale: stale + 1 };
  }

  /** Returns why the run ends here; undefined where it continues. */
  get reason(): string | undefined {
    const { patience } = this.options;
    const { mark, stale } = this.state;
    if (patience === 0 || stale < patience || mark === null) return undefined;
    return `the validation reward has not risen above ${mark.toFixed(3)} for ${stale} evaluation${stale === 1 ? "" : "s"}`;
  }
}
