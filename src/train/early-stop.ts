/** Ends a run before its last step. */
export interface EarlyStopOptions {
  /** Evaluations in a row without an improvement; 0: never. */
  readonly patience: number;
  /** An improvement must exceed the reward at the last one by more than this. */
  readonly min_delta: number;
}

/** State for checkpoints. */
export interface EarlyStopState {
  /** Validation reward at the last improvement; null before the first evaluation. */
  readonly mark: number | null;
  /** Evaluations since then. */
  readonly stale: number;
}

/**
 * Ends a run whose validation reward no longer improves. The first evaluation of the run sets the mark. Small gains add
 * up: the mark stays until the reward exceeds it by more than `min_delta`.
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

  /** Says why the run ends here; undefined where it continues. */
  get reason(): string | undefined {
    const { patience, min_delta } = this.options;
    const { mark, stale } = this.state;
    if (patience === 0 || stale < patience || mark === null) return undefined;
    const by = min_delta > 0 ? ` by more than ${min_delta}` : "";
    return `the validation reward has not risen above ${mark.toFixed(3)}${by} for ${stale} evaluation${stale === 1 ? "" : "s"}`;
  }
}
