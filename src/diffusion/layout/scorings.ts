import type { DiscreteRng, Rng } from "../../core/rng.js";

/**
 * Score of a trajectory: its own steps, a likelihood bound of its response, that bound where its terms are
 * log-probabilities of masked tokens, the response as plain text, or the supervised loss.
 */
export type Scoring = "steps" | "bound" | "masks" | "text" | "supervised";

/** Unit of one ratio: a step of the trajectory, one token in one step, or the whole response. */
export type RatioLevel = "step" | "token" | "sequence";

/** Sizes to which a layout is padded, so that few graphs are built. */
export interface LayoutSizes {
  /** Number of trajectories in a layout; fewer are padded. */
  readonly batch: number;
  /** Sequences are padded to multiples of this. */
  readonly lengthStep: number;
  /** Shares the start of consecutive sequences with the same one ({@link shareStarts}). Default: false. */
  readonly share?: boolean | undefined;
}

export interface StepLayout extends LayoutSizes {
  /** Unit of one segment. */
  readonly level: RatioLevel;
  /** A segment's value: the sum of its log-probabilities (default) or their mean. */
  readonly reduction?: "sum" | "mean";
  /** Indices of the steps to score, ascending, one list per trajectory; default: all. */
  readonly subset?: readonly (readonly number[])[];
  /** false: each step in a sequence of its own, exactly as sampled, even where one sequence could hold all steps. */
  readonly packed?: boolean;
}

export interface BoundLayout extends LayoutSizes {
  /** M: Monte-Carlo samples of the bound. */
  readonly samples: number;
  /** Adds the complement of every corruption. */
  readonly coupled: boolean;
  /**
   * Fixed shares of masked units instead of random ones, each with its weight in the integral over (0, 1); `samples` is
   * then the number of draws of each. Only for a bound by masks.
   */
  readonly quadrature?: readonly { readonly fraction: number; readonly weight: number }[];
  /** The random stream of each trajectory. */
  readonly rngs: readonly DiscreteRng[];
}

export interface SupervisedLayout {
  /** Weight of the autoregressive loss, where the model has one; null: the model's own. */
  readonly arWeight: number | null;
  /** Weight of the EOS tokens after the first one. */
  readonly eosFillWeight: number;
  /**
   * Weight of all masks of a slot but its first, where slots are filled in autoregressively. No token is drawn from
   * these masks; they only predict whether EOS is in the slot. Default: 1, as in ReFusion's own loss.
   */
  readonly draftWeight?: number;
  /** Masks and scores a template's given tokens too. Default: false. */
  readonly maskGiven?: boolean;
  /** Most sequences of a batch; default: all. */
  readonly batch?: number;
  /** N of sequences that pack several examples, a batch each, where the sampler can pack; default: one padded sequence each. */
  readonly packLength?: number;
  readonly rng: Rng;
}
