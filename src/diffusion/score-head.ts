import type { Emitter } from "../onnx/emit.js";
import type { Value } from "../onnx/types.js";
import { allowedLogProbs, pickLogProb, scaledLogits } from "./head.js";
import type { TokenIds } from "./tokens.js";

/** What a term is worth, on the graph: the same definition for scoring and for training. */
export interface ScoreHead {
  /** Part of a graph's name. */
  readonly name: string;
  /** Inputs [R] of its own. */
  readonly features: Readonly<Record<string, "float32" | "int64">>;
  /** @returns [R] the score of each row's target from logits [R, V]; nats. */
  emit(
    e: Emitter,
    logits: Value,
    inputs: {
      readonly targets: Value;
      readonly inverseTemperature: Value;
      readonly features: Readonly<Record<string, Value>>;
    },
    tokens: TokenIds,
  ): Value;
}

/** log p over what a policy may sample; `eos_allowed` [R] is 0 where it may not sample EOS. */
export const policyHead: ScoreHead = {
  name: "policy",
  features: { eos_allowed: "float32" },
  emit(e, logits, { targets, inverseTemperature, features }, tokens) {
    return pickLogProb(e, allowedLogProbs(e, logits, inverseTemperature, tokens, features.eos_allowed), targets);
  },
};

/** log p over the whole vocabulary, as models are trained. */
export const modelHead: ScoreHead = {
  name: "model",
  features: {},
  emit(e, logits, { targets, inverseTemperature }) {
    return pickLogProb(e, e.logSoftmax(scaledLogits(e, logits, inverseTemperature)), targets);
  },
};
