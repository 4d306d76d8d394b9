import type { Emitter } from "../onnx/emit.js";
import type { Value } from "../onnx/types.js";
import { BLOCKED } from "./buffer.js";
import type { TokenIds } from "./tokens.js";

/** Log-probabilities on the graph: one definition for sampling, scoring and training. */

/**
 * log softmax over the allowed vocabulary at temperature tau.
 * @param logits [R, V]
 * @param inverseTemperature scalar 1 / tau
 * @param eosAllowed [R], or [1] for all: 1 or 0; where 0, EOS is blocked and the rest renormalised; undefined: allowed everywhere.
 * @returns [R, V]; mask and pad are never allowed.
 */
export function allowedLogProbs(
  e: Emitter,
  logits: Value,
  inverseTemperature: Value,
  tokens: TokenIds,
  eosAllowed: Value | undefined,
): Value {
  const vocabulary = logits.shape.at(-1) as number;
  const never = new Array<number>(vocabulary).fill(0);
  // where a vocabulary has no mask or pads with EOS, there is less to block
  for (const id of [tokens.mask, tokens.pad]) if (id < vocabulary && id !== tokens.eos) never[id] = BLOCKED;
  const scaled = scaledLogits(e, logits, inverseTemperature, e.g.constant("float32", [vocabulary], never));
  return e.logSoftmax(eosAllowed === undefined ? scaled : withoutEos(e, scaled, eosAllowed, tokens.eos));
}

/** Blocks the EOS column of scaled logits [R, V] where `eosAllowed` is 0. */
function withoutEos(e: Emitter, scaled: Value, eosAllowed: Value, eos: number): Value {
  const [rows, vocabulary] = scaled.shape as [number, number];
  const blocked = e.mul(e.unsqueeze(e.sub(1, eosAllowed), [1]), BLOCKED);
  if (eosAllowed.shape[0] === rows) {
    // one column is written in place
    const column = e.expand(e.g.constant("int64", [1, 1], [eos]), [rows, 1]);
    return e.g.op("ScatterElements", [scaled, column, blocked], { axis: 1, reduction: "add" });
  }
  const isEos = Array.from({ length: vocabulary }, (_, id) => (id === eos ? 1 : 0));
  return e.add(scaled, e.mul(blocked, e.g.constant("float32", [1, vocabulary], isEos)));
}

/**
 * logits * scale (+ bias [V]). Where they come from a product with the output head, the scale goes to its rows [R, D] and
 * the bias into it: no pass over [R, V] is left.
 */
export function scaledLogits(e: Emitter, logits: Value, scale: Value, bias?: Value): Value {
  let product = e.g.producer(logits);
  while (product?.op === "Identity" || product?.op === "Reshape") product = e.g.producer(product.inputs[0] as Value);
  const [x, head, own] = product?.inputs ?? [];
  const isPlain =
    (product?.op === "Gemm" && (product.attributes.beta ?? 1) === 1 && (own?.shape.length ?? 1) === 1) ||
    (product?.op === "MatMul" && x?.shape.length === 2 && head?.shape.length === 2);
  if (product === undefined || x === undefined || head === undefined || !isPlain) {
    const scaled = e.mul(logits, scale);
    return bias === undefined ? scaled : e.add(scaled, bias);
  }
  const terms = [...(own === undefined ? [] : [e.mul(own, scale)]), ...(bias === undefined ? [] : [bias])];
  const c = terms.length === 0 ? [] : [terms.reduce((a, b) => e.add(a, b))];
  return e.g.op("Gemm", [e.mul(x, scale), head, ...c], product.op === "Gemm" ? product.attributes : {});
}

/** The log-probability of each row's own token: logProbs [R, V], tokens [R] int64; returns [R]. */
export function pickLogProb(e: Emitter, logProbs: Value, tokens: Value): Value {
  return e.squeeze(e.gatherElements(logProbs, e.unsqueeze(tokens, [1]), 1), [1]);
}

/** Vocabulary entries that one block of the two-level inverse CDF holds. */
const BLOCK = 64;

/** A token below this log-probability is only ever reached by rounding at a block's end. */
const IMPOSSIBLE = -60;

/**
 * Samples one token a row by inverse CDF in two levels: first the block of 64 tokens, then the token inside it, so that
 * no running sum over the whole vocabulary is needed and the noise is one number a row.
 * @param logProbs [R, V]
 * @param uniform [R] in [0, 1)
 * @param fallback [R] int64, taken where rounding would pick an impossible token
 * @returns [R] int64
 */
export function inverseCdf(e: Emitter, logProbs: Value, uniform: Value, fallback: Value): Value {
  const vocabulary = logProbs.shape[1] as number;
  const blocks = Math.ceil(vocabulary / BLOCK);
  let p = e.exp(logProbs);
  const noise = e.unsqueeze(uniform, [1]);
  // R may be open, so that sizes are taken from what is there
  if (blocks * BLOCK !== vocabulary)
    p = e.concat([p, e.mul(noise, e.zeros([1, blocks * BLOCK - vocabulary], "float32"))], 1);
  const grid = e.reshape(p, [-1, blocks, BLOCK]);
  const mass = e.sum(grid, [2], false);
  const axis = e.g.scalar(1, "int64");
  const running = e.g.op("CumSum", [mass, axis]);
  // the probabilities sum to 1 only up to rounding: scale the noise to their own total
  const target = e.mul(noise, e.slice(running, 1, blocks - 1, blocks));
  // counted in float32, exact below 2^24: accelerators leave sums of integers to the CPU
  const countBelow = (sums: Value, limit: Value, size: number): Value =>
    e.cast(e.min(e.sum(e.indicator(e.lessOrEqual(sums, limit)), [1]), size - 1), "int64");
  const block = countBelow(running, target, blocks);
  const before = e.sub(e.gatherElements(running, block, 1), e.gatherElements(mass, block, 1));
  const columns = e.add(e.unsqueeze(block, [2]), e.zeros([1, 1, BLOCK], "int64"));
  const chosen = e.squeeze(e.gatherElements(grid, columns, 1), [1]);
  const inside = countBelow(e.g.op("CumSum", [chosen, axis]), e.sub(target, before), BLOCK);
  const token = e.squeeze(e.add(e.mul(block, e.g.scalar(BLOCK, "int64")), inside), [1]);
  const last = e.g.scalar(vocabulary - 1, "int64");
  const safe = e.min(token, last);
  const impossible = e.less(pickLogProb(e, logProbs, safe), IMPOSSIBLE);
  return e.where(impossible, fallback, safe);
}
