import type { SamplerOptions } from "../../../diffusion/sampler.js";
import { f32, type NamedTensors, vector } from "../../../onnx/tensors.js";

/** Score of a chunk of actions that ratios use: `sde`, log-probabilities of steps; `cfm`, the flow-matching loss. */
export type FlowRatio = "sde" | "cfm";

/** `promptLength` and `responseLength` are the sizes of the observation and of a chunk of actions. */
export interface FlowOptions extends SamplerOptions {
  /** K, the number of steps. */
  readonly steps: number;
  readonly ratio: FlowRatio;
  /** (tau, epsilon) pairs per chunk, if the ratio is `cfm`. */
  readonly pairs: number;
  readonly stateSize: number;
  /** Side of the depth image in pixels, which follows the state; 0: no image. */
  readonly depth: number;
}

/** Makes the network's inputs of points between noise and chunk [rows * A], and of their times [rows]. */
export const pathInputs = (actions: Float32Array, time: Float32Array): NamedTensors => ({
  actions: f32([time.length, actions.length / time.length], actions),
  time: vector(time),
});

/** Makes the network's inputs of the observations. @param seen [rows * promptLength]: state, then image, row by row. */
export function seenInputs(
  seen: Float32Array<ArrayBuffer>,
  { stateSize, depth, promptLength: size }: FlowOptions,
): NamedTensors {
  const rows = seen.length / size;
  if (depth === 0) return { state: f32([rows, stateSize], seen) };
  const [state, image] = [new Float32Array(rows * stateSize), new Float32Array(rows * depth * depth)];
  for (let b = 0; b < rows; b++) {
    state.set(seen.subarray(b * size, b * size + stateSize), b * stateSize);
    image.set(seen.subarray(b * size + stateSize, (b + 1) * size), b * depth * depth);
  }
  return { state: f32([rows, stateSize], state), depth: f32([rows, depth, depth], image) };
}
