import type { Tensor } from "../onnx/types.js";
import type { Checkpoint } from "../runs/checkpoint.js";

/** The group of a checkpoint that keeps a reference which is not where the run began (`training.reference_refresh`). */
export const REFERENCE = "reference";

/** A further policy's tensors as a checkpoint keeps them: under names that are not the trained policy's. */
export function asKept(name: string, tensors: ReadonlyMap<string, Tensor>): Record<string, Map<string, Tensor>> {
  return { [name]: new Map([...tensors].map(([tensor, value]) => [`${name}/${tensor}`, value])) };
}

/** A further policy that a checkpoint keeps; undefined where it has none of that name. */
export function keptPolicy(
  name: string,
  checkpoint: Pick<Checkpoint, "groups"> | undefined,
): Map<string, Tensor> | undefined {
  const kept = checkpoint?.groups?.[name];
  return kept && new Map([...kept].map(([tensor, value]) => [tensor.slice(name.length + 1), value]));
}
