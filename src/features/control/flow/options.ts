import type { SamplerOptions } from "../../../diffusion/sampler.js";
import { f32, type NamedTensors, vector } from "../../../onnx/tensors.js";

/** Score of a chunk of actions, of which ratios are formed. */
export type FlowRatio = "sde" | "cfm";

/** `promptLength` and `responseLength` are the numbers of what is seen and of a chunk of actions. */
export interface FlowOptions extends SamplerOptions {
  /** K */
  readonly steps: number;
  readonly ratio: FlowRatio;
  /** (tau, epsilon) pairs of a chunk, where the ratio is `cfm`. */
  readonly pairs: number;
  readonly stateSize: number;
  /** Pixels of a side of the depth image, which lies behind the state; 0: the network reads none. */
  readonly depth: number;
}

/** Numbers on the way from noise to a chunk [rows * A], and the time of each row, as the network reads them. */
export const pathInputs = (actions: Float32Array, time: Float32Array): NamedTensors => ({
  actions: f32([time.length, actions.length / time.length], actions),
  time: vector(time),
});

/** The network's inputs of what is seen. @param seen [rows * promptLength]: state, then image, row by row. */
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
