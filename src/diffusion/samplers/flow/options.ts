import type { SamplerOptions } from "../../sampler.js";

/** What a chunk of actions is scored by, and so what a ratio is of. */
export type FlowRatio = "sde" | "cfm";

/** `promptLength` and `responseLength` are the numbers of a state and of a chunk of actions. */
export interface FlowOptions extends SamplerOptions {
  /** K */
  readonly steps: number;
  readonly ratio: FlowRatio;
  /** (tau, epsilon) pairs of a chunk, where the ratio is `cfm`. */
  readonly pairs: number;
  readonly stateSize: number;
}
