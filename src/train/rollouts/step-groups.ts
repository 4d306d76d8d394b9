import type { Tensor } from "../../onnx/types.js";
import type { Collect } from "./collect.js";
import type { CurriculumState } from "./curriculum.js";
import type { Sampled } from "./groups.js";

/** The groups of a step, credit not given yet, and the time that it took to get them. */
export interface StepGroups {
  /** [G][E] the episodes of each task. */
  readonly groups: readonly (readonly Sampled[])[];
  /** Seconds in which the model generated. */
  readonly generating: number;
  /** Seconds from the first generated token to the last scored episode. */
  readonly rollout: number;
  /** Episodes that the environment played. */
  readonly episodes: number;
  /** The place where an older policy may have sampled them: by how many steps, and which one it was; absent: the present one. */
  readonly sampled?: { readonly lag: number; readonly parameters?: ReadonlyMap<string, Tensor> };
}

/** The place where a run's groups come from: its own policy in the environment, or the rollouts of another run. */
export interface GroupSource {
  collect(step: number): Promise<StepGroups>;
  /** Tasks drawn so far: kept in checkpoints, as is {@link curriculum}. */
  readonly drawn: number;
  readonly curriculum?: CurriculumState;
  /** Further policies that a checkpoint of so many steps has to keep, as its groups. */
  kept?(step: number): Record<string, Map<string, Tensor>>;
}

/** Groups that are played: a step's episodes may be collected otherwise, as by an older policy. */
export interface PlayedSource extends GroupSource {
  readonly curriculum: CurriculumState;
  collect(step: number, collect?: Collect): Promise<StepGroups>;
}
