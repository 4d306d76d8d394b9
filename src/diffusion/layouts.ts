import type { DiscreteRng } from "../core/outcomes.js";
import type { Rng } from "../core/rng.js";

/**
 * Score of a trajectory: its own steps, a likelihood bound of its response, that bound where its terms are
 * log-probabilities of masked tokens, or the response as plain text.
 */
export type Scoring = "steps" | "bound" | "masks" | "text" | "supervised";

/** Unit of one ratio: a step of the trajectory, one token in one step, or the whole response. */
export type RatioLevel = "step" | "token" | "sequence";

/** Sizes that a layout is padded to, so that few graphs are ever built. */
export interface LayoutSizes {
  /** Trajectories that a layout is made for; fewer are padded. */
  readonly batch: number;
  /** Sequences are padded to multiples of this. */
  readonly lengthStep: number;
  /** Sequences one behind the other with the same start read it once ({@link shareStarts}). Default: false. */
  readonly share?: boolean | undefined;
}

export interface StepLayout extends LayoutSizes {
  /** Unit of one segment. */
  readonly level: RatioLevel;
  /** A segment's value: the sum of its log-probabilities (default) or their mean. */
  readonly reduction?: "sum" | "mean";
  /** Indices of the steps to score, ascending, one list a trajectory; default: all. */
  readonly subset?: readonly (readonly number[])[];
  /** false: every step in a sequence of its own, exactly as sampled, also where one sequence could hold all of them. */
  readonly packed?: boolean;
}

export interface BoundLayout extends LayoutSizes {
  /** M: Monte-Carlo samples of the bound. */
  readonly samples: number;
  /** Adds the complement of every corruption. */
  readonly coupled: boolean;
  /**
   * Fixed shares of masked units in the place of random ones, each with its weight in the integral over (0, 1);
   * `samples` is then the draws of each. Only where the bound is of masks.
   */
  readonly quadrature?: readonly { readonly fraction: number; readonly weight: number }[];
  /** Each trajectory's own draws. */
  readonly rngs: readonly DiscreteRng[];
}

export interface SupervisedLayout {
  /** Weight of the autoregressive loss, where the model has one; null: the model's own. */
  readonly arWeight: number | null;
  /** Weight of the EOS tokens behind the first one. */
  readonly eosFillWeight: number;
  /**
   * Weight of the masks behind a slot's first where slots are filled in autoregressively: nothing is drawn from them,
   * they only say whether EOS is in the slot. Default: 1, as in ReFusion's own loss.
   */
  readonly draftWeight?: number;
  /** Masks what a template gives too, and scores it. Default: false. */
  readonly maskGiven?: boolean;
  /** N of sequences that hold several examples, where the sampler can pack them; default: a padded sequence each. */
  readonly packLength?: number;
  readonly rng: Rng;
}
