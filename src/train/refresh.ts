import type { Tensor } from "../onnx/types.js";
import type { Checkpoint } from "../runs/checkpoint.js";

/** The checkpoint group of a reference that is not the run's initial policy (`training.reference_refresh`). */
export const REFERENCE = "reference";

/** Returns a further policy's tensors for a checkpoint, under names other than the trained policy's. */
export const policyGroup = (
  name: string,
  tensors: ReadonlyMap<string, Tensor>,
): Record<string, Map<string, Tensor>> => ({
  [name]: new Map([...tensors].map(([tensor, value]) => [`${name}/${tensor}`, value])),
});

/** Returns a further policy of a checkpoint; undefined where it has none of that name. */
export function policyOfGroup(
  name: string,
  checkpoint: Pick<Checkpoint, "groups"> | undefined,
): Map<string, Tensor> | undefined {
  const kept = checkpoint?.groups?.[name];
  return kept && new Map([...kept].map(([tensor, value]) => [tensor.slice(name.length + 1), value]));
}
