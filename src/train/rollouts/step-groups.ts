import type { Tensor } from "../../onnx/types.js";
import type { Collect } from "./collect.js";
import type { Sampled } from "./groups.js";

/** The groups of a step before credit assignment, with the time to collect them. */
export interface StepGroups {
  /** [G][E] the episodes of each task. */
  readonly groups: readonly (readonly Sampled[])[];
  /** Seconds of generation by the model. */
  readonly generating: number;
  /** Seconds from the first generated token to the last scored episode. */
  readonly rollout: number;
  /** Episodes that the environment played. */
  readonly episodes: number;
  /** Set where an older policy sampled them: its age in steps, and its parameters; absent: the present one. */
  readonly sampled?: { readonly lag: number; readonly parameters?: ReadonlyMap<string, Tensor> };
}

/** Source of a run's groups: its own policy in the environment, or the stored rollouts of another run. */
export interface GroupSource {
  collect(step: number): Promise<StepGroups>;
  /** Tasks drawn so far: saved in checkpoints. */
  readonly drawn: number;
  /** Returns further policies for a checkpoint after `step` steps, as its groups. */
  kept?(step: number): Record<string, Map<string, Tensor>>;
}

/** A source of played groups: a step's episodes may be collected differently, as by an older policy. */
export interface PlayedSource extends GroupSource {
  collect(step: number, collect?: Collect): Promise<StepGroups>;
}
