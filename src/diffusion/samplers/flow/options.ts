import type { SamplerOptions } from "../../sampler.js";

/** `promptLength` and `responseLength` are the numbers of a state and of a chunk of actions. */
export interface FlowOptions extends SamplerOptions {
  /** K */
  readonly steps: number;
  readonly stateSize: number;
}
