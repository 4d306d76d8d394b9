import type { Emitter } from "../onnx/emit.js";
import type { Value } from "../onnx/types.js";

export interface OptimizerOptions {
  readonly kind: "adamw" | "muon";
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  /** Global norm to clip to; 0 disables clipping. */
  readonly gradClip: number;
  /** Factor on the learning rate of matrices that Muon updates. */
  readonly muonLrScale: number;
}

/** The inputs of an update rule for one parameter. */
export interface UpdateContext {
  readonly e: Emitter;
  readonly options: OptimizerOptions;
  readonly parameter: Value;
  /** Already clipped. */
  readonly gradient: Value;
  readonly first: Value;
  readonly second: Value;
  /** Scalars: learning rate, 1 - beta1^t, 1 - beta2^t. */
  readonly lr: Value;
  readonly correction1: Value;
  readonly correction2: Value;
}

export interface Update {
  readonly parameter: Value;
  readonly first: Value;
  readonly second: Value;
}
