import type { Emitter } from "../onnx/emit.js";
import type { InputSpecs } from "../onnx/tensors.js";
import type { Value } from "../onnx/types.js";
import { allowedLogProbs, pickLogProb, scaledLogits, withOneEos } from "./head.js";
import type { SampledModel } from "./tokens.js";

/** The score of a term as a graph: one definition for scoring and for training. */
export interface ScoreHead<About = SampledModel> {
  /** Part of a graph's name. */
  readonly name: string;
  /** Its own inputs; the symbol `R` is the number of terms. */
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
  /**
   * For a score that is the log-probability of a drawn token: returns the log-probabilities [R, V] of all tokens that
   * could have been drawn, of which `emit` picks that of `targets`.
   */
  distribution?(...given: Parameters<ScoreHead<About>["emit"]>): Value;
}

/** Inputs of every head over a vocabulary: the target of each row, and 1 / tau. */
export const TARGETS = {
  targets: { dtype: "int64", shape: ["R"] },
  inverse_temperature: { dtype: "float32", shape: [] },
} as const satisfies InputSpecs;

/** A head whose scores are the log-probabilities of drawn tokens. */
function drawnTokens(
  name: string,
  inputs: InputSpecs & typeof TARGETS,
  distribution: NonNullable<ScoreHead["distribution"]>,
): ScoreHead {
  return {
    name,
    inputs,
    distribution,
    emit: (...given) => pickLogProb(given[0], distribution(...given), given[2].targets as Value),
  };
}

/** log p over the tokens that a policy may sample; `eos_allowed` [R] is 0 where it may not sample EOS. */
export const policyHead = drawnTokens(
  "policy",
  { ...TARGETS, eos_allowed: { dtype: "float32", shape: ["R"] } },
  (e, { logits }, { inverse_temperature, eos_allowed }, { tokens }) =>
    allowedLogProbs(e, logits as Value, inverse_temperature as Value, tokens, eos_allowed),
);

/** The same, with rows that are not `open` [R] limited to the tokens `allowed` [R, M]. */
export const constrainedHead = drawnTokens(
  "constrained",
  {
    ...TARGETS,
    eos_allowed: { dtype: "float32", shape: ["R"] },
    open: { dtype: "float32", shape: ["R"] },
    allowed: { dtype: "int64", shape: ["R", "M"] },
  },
  (e, { logits }, { inverse_temperature, eos_allowed, open, allowed }, { tokens }) =>
    allowedLogProbs(e, logits as Value, inverse_temperature as Value, tokens, eos_allowed, {
      allowed: allowed as Value,
      open: open as Value,
    }),
);

/** log p over the whole vocabulary, as in supervised training. */
export const modelHead = drawnTokens("model", TARGETS, (e, { logits }, { inverse_temperature }, { tokens }) =>
  e.logSoftmax(withOneEos(e, scaledLogits(e, logits as Value, inverse_temperature as Value), tokens)),
);
