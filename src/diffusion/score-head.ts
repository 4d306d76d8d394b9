import type { Emitter } from "../onnx/emit.js";
import type { InputSpecs } from "../onnx/tensors.js";
import type { Value } from "../onnx/types.js";
import { allowedLogProbs, pickLogProb, scaledLogits } from "./head.js";
import type { SampledModel } from "./tokens.js";

/** What a term is worth, on the graph: the same definition for scoring and for training. */
export interface ScoreHead<About = SampledModel> {
  /** Part of a graph's name. */
  readonly name: string;
  /** Inputs of its own; the symbol `R` is the number of terms. */
  readonly inputs: InputSpecs;
  /**
   * @param outputs of the model's graph by name: `logits` [R, V].
   * @param inputs those that it declares.
   * @returns [R] the score of each term; nats.
   */
  emit(
    e: Emitter,
    outputs: Readonly<Record<string, Value>>,
    inputs: Readonly<Record<string, Value>>,
    about: About,
  ): Value;
}

/** What every head over a vocabulary takes: the target of each row, and 1 / tau. */
export const TARGETS = {
  targets: { dtype: "int64", shape: ["R"] },
  inverse_temperature: { dtype: "float32", shape: [] },
} as const satisfies InputSpecs;

/** log p over what a policy may sample; `eos_allowed` [R] is 0 where it may not sample EOS. */
export const policyHead: ScoreHead = {
  name: "policy",
  inputs: { ...TARGETS, eos_allowed: { dtype: "float32", shape: ["R"] } },
  emit(e, { logits }, { targets, inverse_temperature, eos_allowed }, { tokens }) {
    const logProbs = allowedLogProbs(e, logits as Value, inverse_temperature as Value, tokens, eos_allowed);
    return pickLogProb(e, logProbs, targets as Value);
  },
};

/** log p over the whole vocabulary, as models are trained. */
export const modelHead: ScoreHead = {
  name: "model",
  inputs: TARGETS,
  emit(e, { logits }, { targets, inverse_temperature }) {
    return pickLogProb(
      e,
      e.logSoftmax(scaledLogits(e, logits as Value, inverse_temperature as Value)),
      targets as Value,
    );
  },
};
