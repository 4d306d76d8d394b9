/** Ends a run before its last step. */
export interface EarlyStopOptions {
  /** Evaluations in a row without a rise; 0: never. */
  readonly patience: number;
  /** A rise is more than this above the reward at the last rise. */
  readonly min_delta: number;
}

/** State for checkpoints. */
export interface EarlyStopState {
  /** Validation reward at the last rise; null before the first evaluation. */
  readonly mark: number | null;
  /** Evaluations since. */
  readonly stale: number;
}

/**
 * Ends a run whose validation reward has stopped rising. The first evaluation of
 * the run sets the mark. Small rises add up: the mark stays until one of them is more than `min_delta` above it.
 */
export class EarlyStop {
  constructor(
    private readonly options: EarlyStopOptions,
    public state: EarlyStopState = { mark: null, stale: 0 },
  ) {}

  /** @param reward mean over the validation split, 0..1. */
  observe(reward: number): void {
    const { mark, stale } = this.state;
    this.state =
      mark === null || reward > mark + this.options.min_delta ? { mark: reward, stale: 0 } : { mark, stale: stale + 1 };
  }

  /** Says why the run ends here; undefined where it goes on. */
  get reason(): string | undefined {
    const { patience, min_delta } = this.options;
    const { mark, stale } = this.state;
    if (patience === 0 || stale < patience || mark === null) return undefined;
    const by = min_delta > 0 ? ` by more than ${min_delta}` : "";
    return `the validation reward has not risen above ${mark.toFixed(3)}${by} for ${stale} evaluation${stale === 1 ? "" : "s"}`;
  }
}
