import { BLOCKED } from "../../../attention/bias.js";
import type { Emitter } from "../../../onnx/emit.js";
import type { Value } from "../../../onnx/types.js";
import { allowedLogProbs, drawTokens, weightsInBlocks } from "../../head.js";
import { DRAW_INPUTS, type RoundHead } from "../../sampler.js";
import type { TokenIds } from "../../tokens.js";

/**
 * Statistics of one forward for each of R rows, and for the first Q of them (all, or one) what is drawn, at the softmax
 * temperature of the call, over the vocabulary without mask and pad. Arrays `[R*2]` and `[Q*2]` are row-major with two
 * columns: 0 with EOS allowed, 1 with EOS forbidden (its logit blocked, the rest renormalised).
 */
export interface RowStatistics {
  /** [Q*2] sampled by inverse CDF from the row's own uniform number. */
  readonly token: BigInt64Array | Int32Array;
  /** [Q*2] log-probability of `token`, nats. */
  readonly logProb: Float32Array;
  /** [R*2] most probable token. */
  readonly argmax: BigInt64Array | Int32Array;
  /** [Q*2] log-probability of `argmax`, nats. */
  readonly argmaxLogProb: Float32Array;
  /** [R] largest probability, EOS included. */
  readonly top: Float32Array;
  /** [R] second largest probability, EOS included. */
  readonly top2: Float32Array;
  /** [Q] entropy in nats, EOS included. */
  readonly entropy: Float32Array;
  /** [R] 1 where EOS is the most probable token. */
  readonly eosIsArgmax: Uint8Array;
  /** [Q, M] log-probabilities of the requested candidates, EOS allowed; nats. */
  readonly candidateLogProb: Float32Array;
}

/** Computes the statistics that rank slots, and draws a token at the first Q rows. */
export const roundHead: RoundHead<RowStatistics> = {
  inputs: {
    ...DRAW_INPUTS,
    uniform: { dtype: "float32", shape: ["Q"] },
    drawn: { dtype: "int64", shape: ["Q"] },
    candidates: { dtype: "int64", shape: ["Q", "M"] },
  },
  emit: (e, { logits }, inputs, { tokens }) => emitRowStatistics(e, logits as Value, inputs, tokens),
  emitRanking: (e, { logits }, inputs, { tokens }) => void emitRanks(e, logits as Value, inputs, tokens),
  read: (outputs) => {
    const take = <T>(name: string): T => (outputs[name]?.data ?? []) as T;
    return {
      token: take<BigInt64Array>("token"),
      logProb: take<Float32Array>("log_prob"),
      argmax: take<BigInt64Array>("argmax"),
      argmaxLogProb: take<Float32Array>("argmax_log_prob"),
      top: take<Float32Array>("top"),
      top2: take<Float32Array>("top2"),
      entropy: take<Float32Array>("entropy"),
      eosIsArgmax: take<Uint8Array>("eos_is_argmax"),
      candidateLogProb: take<Float32Array>("candidate_log_prob"),
    };
  },
};

/** Weights relative to the largest other token, in nats, beyond which all others are 0 in float32 anyway. */
const DOMINANT = 80;

/** Declares the outputs by which rows of logits [R, V] are ranked, and returns what they follow from. */
function emitRanks(e: Emitter, logits: Value, inputs: Readonly<Record<string, Value>>, tokens: TokenIds) {
  const all = allowedLogProbs(e, logits, inputs.inverse_temperature as Value, tokens, undefined);
  const [best, bestIndex] = e.g.node("TopK", [all, e.g.ints([2])], { axis: -1 }) as [Value, Value];
  const columns = (v: Value): [Value, Value] =>
    [0, 1].map((i) => e.squeeze(e.slice(v, 1, i, i + 1), [1])) as [Value, Value];
  const [[first, second], [argmax, next]] = [columns(best), columns(bestIndex)];
  const eosIsArgmax = e.equal(argmax, e.g.scalar(tokens.eos, "int64"));
  const argmaxForbidden = e.where(eosIsArgmax, next, argmax);
  const mostProbable = e.concat([e.unsqueeze(argmax, [1]), e.unsqueeze(argmaxForbidden, [1])], 1);
  e.g.output("argmax", mostProbable);
  e.g.output("top", e.exp(first));
  e.g.output("top2", e.exp(second));
  e.g.output("eos_is_argmax", e.cast(eosIsArgmax, "uint8"));
  return { all, first, other: e.where(eosIsArgmax, second, first), mostProbable };
}

/**
 * Declares the graph's outputs from logits [R, V]. Rows that are only ranked need their log-probabilities and the two
 * largest; `drawn` [Q] are the rows of the rest. Forbidding EOS changes the others by a common factor, so few arrays
 * [R, V] are needed: log p, and weights relative to the best token other than EOS, which stay accurate however probable
 * EOS is.
 */
function emitRowStatistics(e: Emitter, logits: Value, inputs: Readonly<Record<string, Value>>, tokens: TokenIds): void {
  const uniform = inputs.uniform as Value;
  const { all, mostProbable, ...of } = emitRanks(e, logits, inputs, tokens);
  const ofDrawn = (v: Value): Value => e.gather(v, inputs.drawn as Value);
  const [logProbs, other] = [ofDrawn(all), ofDrawn(of.other)];
  const relative = e.exp(e.clip(e.sub(logProbs, e.unsqueeze(other, [1])), 2 * BLOCKED, DOMINANT));
  const entropy = e.neg(e.mul(e.exp(other), e.sum(e.mul(relative, logProbs), [1], false)));
  const weights = weightsInBlocks(e, relative);
  const draw = { logProbs, uniform, unit: other, fallback: ofDrawn(mostProbable), without: tokens.eos };
  const { token, logProb, unitLogProb } = drawTokens(e, weights, draw);
  e.g.output("token", token);
  e.g.output("log_prob", logProb);
  const isFirst = e.g.constant("bool", [1, 2], [1, 0]);
  e.g.output("argmax_log_prob", e.where(isFirst, e.unsqueeze(ofDrawn(of.first), [1]), unitLogProb));
  e.g.output("entropy", entropy);
  e.g.output("candidate_log_prob", e.gatherElements(logProbs, inputs.candidates as Value, 1));
}

/** Returns the log-probabilities of some of a row's candidates. */
export function candidateLogProbs(
  { candidateLogProb, logProb }: RowStatistics,
  row: number,
  candidates: readonly number[],
  tokens: readonly number[],
): number[] {
  const width = (2 * candidateLogProb.length) / logProb.length;
  return tokens.map((token) => candidateLogProb[row * width + candidates.indexOf(token)] as number);
}
