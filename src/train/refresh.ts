import type { Tensor } from "../onnx/types.js";
import type { Checkpoint } from "../runs/checkpoint.js";

/** The group of a checkpoint that keeps a reference which is not where the run began (`training.reference_refresh`). */
export const REFERENCE = "reference";

const PREFIX = "reference/";

/** A reference's tensors under names that are not the policy's. */
export function asReference(tensors: ReadonlyMap<string, Tensor>): Map<string, Tensor> {
  return new Map([...tensors].map(([name, tensor]) => [`${PREFIX}${name}`, tensor]));
}

/** The reference that a checkpoint keeps; undefined where it is that of the run's start. */
export function refreshedReference(
  checkpoint: Pick<Checkpoint, "groups"> | undefined,
): Map<string, Tensor> | undefined {
  const kept = checkpoint?.groups?.[REFERENCE];
  return kept && new Map([...kept].map(([name, tensor]) => [name.slice(PREFIX.length), tensor]));
}
