import { allowedLogProbs, pickLogProb } from "../../diffusion/head.js";
import { DRAW_INPUTS, type RoundHead } from "../../diffusion/sampler.js";
import type { Tensor, Value } from "../../onnx/types.js";

/** Results of one forward pass for R rows, over the vocabulary without mask and pad. */
export interface RowDrafts {
  /** [R] most probable token. */
  readonly token: BigInt64Array;
  /** [R] log-probability of `token`, nats. */
  readonly logProb: Float32Array;
  /** [R] log-probability of the row's own `target`, nats. */
  readonly targetLogProb: Float32Array;
}

/** Drafts a token at every row, and computes the probability of a given one. */
export const draftHead: RoundHead<RowDrafts> = {
  inputs: { ...DRAW_INPUTS, target: { dtype: "int64", shape: ["R"] } },
  emit(e, { logits }, { inverse_temperature, target }, { tokens }) {
    const logProbs = allowedLogProbs(e, logits as Value, inverse_temperature as Value, tokens, undefined);
    const token = e.g.op("ArgMax", [logProbs], { axis: -1, keepdims: 0 });
    e.g.output("token", token);
    e.g.output("log_prob", pickLogProb(e, logProbs, token));
    e.g.output("target_log_prob", pickLogProb(e, logProbs, target as Value));
  },
  read(outputs) {
    const take = <T>(name: string): T => (outputs[name] as Tensor).data as T;
    return { token: take("token"), logProb: take("log_prob"), targetLogProb: take("target_log_prob") };
  },
};
