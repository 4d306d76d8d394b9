import type { Tensor } from "../../../onnx/types.js";
import { allowedLogProbs, pickLogProb } from "../../head.js";
import type { RoundHead } from "../../sampler.js";

/** What one forward returns of each of R rows, over the vocabulary without mask and pad. */
export interface RowDrafts {
  /** [R] most probable token. */
  readonly token: BigInt64Array;
  /** [R] log-probability of `token`, nats. */
  readonly logProb: Float32Array;
  /** [R] log-probability of the row's own `target`, nats. */
  readonly targetLogProb: Float32Array;
}

/** Drafts a token at every row, and says how probable a given one is: the two questions of the search. */
export const draftHead: RoundHead<RowDrafts> = {
  features: { target: "int64" },
  emit(e, logits, { inverseTemperature, features }, tokens) {
    const logProbs = allowedLogProbs(e, logits, inverseTemperature, tokens, undefined);
    const token = e.g.op("ArgMax", [logProbs], { axis: -1, keepdims: 0 });
    e.g.output("token", token);
    e.g.output("log_prob", pickLogProb(e, logProbs, token));
    const { target } = features;
    if (target === undefined) throw new Error("the head's input target is missing");
    e.g.output("target_log_prob", pickLogProb(e, logProbs, target));
  },
  read(outputs) {
    const take = <T>(name: string): T => (outputs[name] as Tensor).data as T;
    return { token: take("token"), logProb: take("log_prob"), targetLogProb: take("target_log_prob") };
  },
};
