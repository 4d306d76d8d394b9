import { BLOCKED } from "../attention/bias.js";
import type { Emitter } from "../onnx/emit.js";
import type { Value } from "../onnx/types.js";
import { withoutOthers } from "./constrained.js";
import type { TokenIds } from "./tokens.js";

/** Log-probabilities on the graph: one definition for sampling, scoring and training. */

/**
 * log softmax over the allowed vocabulary at temperature tau.
 * @param logits [R, V]
 * @param inverseTemperature scalar 1 / tau
 * @param eosAllowed [R] 1 or 0; where 0, EOS is blocked and the rest renormalised; undefined: allowed everywhere.
 * @param only the allowed tokens of rows that are not open (constrained decoding).
 * @returns [R, V]; mask and pad are never allowed.
 */
export function allowedLogProbs(
  e: Emitter,
  logits: Value,
  inverseTemperature: Value,
  tokens: TokenIds,
  eosAllowed: Value | undefined,
  only?: { readonly allowed: Value; readonly open: Value },
): Value {
  const vocabulary = logits.shape.at(-1) as number;
  const never = new Array<number>(vocabulary).fill(0);
  // a vocabulary without a mask, or one that pads with EOS, has fewer tokens to block
  const ends = [tokens.eos, ...(tokens.furtherEos ?? [])];
  for (const id of [tokens.mask, tokens.pad]) if (id < vocabulary && !ends.includes(id)) never[id] = BLOCKED;
  const bias = e.g.constant("float32", [vocabulary], never);
  const scaled = withOneEos(e, scaledLogits(e, logits, inverseTemperature, bias), tokens);
  const kept = eosAllowed === undefined ? scaled : withoutEos(e, scaled, eosAllowed, tokens.eos);
  return e.logSoftmax(only === undefined ? kept : withoutOthers(e, kept, only.allowed, only.open));
}

/**
 * Adds the probability of a model's further EOS tokens to its first one's and blocks them: any of them ends a text.
 * @param scaled [R, V] logits.
 */
export function withOneEos(e: Emitter, scaled: Value, { eos, furtherEos = [] }: TokenIds): Value {
  if (furtherEos.length === 0) return scaled;
  const ids = [eos, ...furtherEos];
  const ends = e.gather(scaled, e.g.constant("int64", [ids.length], ids), 1);
  const most = e.stopGradient(e.maxOver(ends, [1]));
  const together = e.add(e.log(e.sum(e.exp(e.sub(ends, most)), [1])), most);
  const blocked = e.add(e.mul(e.slice(ends, 1, 1, ids.length), 0), BLOCKED);
  const columns = e.g.op("Expand", [e.g.constant("int64", [1, ids.length], ids), e.g.op("Shape", [ends])]);
  return e.g.op("ScatterElements", [scaled, columns, e.concat([together, blocked], 1)], { axis: 1 });
}

/** Blocks the EOS column of scaled logits [R, V] where `eosAllowed` is 0. */
function withoutEos(e: Emitter, scaled: Value, eosAllowed: Value, eos: number): Value {
  const blocked = e.mul(e.unsqueeze(e.sub(1, eosAllowed), [1]), BLOCKED);
  // one column is written in place; Shape gives its size in one node where the number of rows is open
  const column = e.g.op("Expand", [e.g.constant("int64", [1, 1], [eos]), e.g.op("Shape", [blocked])]);
  return e.g.op("ScatterElements", [scaled, column, blocked], { axis: 1, reduction: "add" });
}

/**
 * logits * scale (+ bias [V]). Where the logits are a product with the output head, the scale is applied to its input
 * rows [R, D] and the bias is added by it: no pass over [R, V] is left.
 */
export function scaledLogits(e: Emitter, logits: Value, scale: Value, bias?: Value): Value {
  let product = e.g.producer(logits);
  while (product?.op === "Identity" || product?.op === "Reshape") product = e.g.producer(product.inputs[0] as Value);
  const [x, head, headBias] = product?.inputs ?? [];
  const isPlain =
    (product?.op === "Gemm" && (product.attributes.beta ?? 1) === 1 && (headBias?.shape.length ?? 1) === 1) ||
    (product?.op === "MatMul" && x?.shape.length === 2 && head?.shape.length === 2);
  if (product === undefined || x === undefined || head === undefined || !isPlain) {
    const scaled = e.mul(logits, scale);
    return bias === undefined ? scaled : e.add(scaled, bias);
  }
  const terms = [...(headBias === undefined ? [] : [e.mul(headBias, scale)]), ...(bias === undefined ? [] : [bias])];
  const c = terms.length === 0 ? [] : [terms.reduce((a, b) => e.add(a, b))];
  return e.g.op("Gemm", [e.mul(x, scale), head, ...c], product.op === "Gemm" ? product.attributes : {});
}

/** Picks the log-probability of each row's own token: logProbs [R, V], tokens [R] int64; returns [R]. */
export const pickLogProb = (e: Emitter, logProbs: Value, tokens: Value): Value =>
  e.squeeze(e.gatherElements(logProbs, e.unsqueeze(tokens, [1]), 1), [1]);

/** Vocabulary entries per block of the two-level inverse CDF. */
const BLOCK = 64;

/** Log-probability below which a token counts as impossible: only rounding at the end of a block can select it. */
const IMPOSSIBLE = -60;

/** Weights of V tokens in blocks of 64: the probabilities of a row up to a factor. */
export interface Weights {
  /** [R, ceil(V / 64), 64], 0 beyond the vocabulary */
  readonly grid: Value;
  /** [R, ceil(V / 64)] sums of the blocks */
  readonly mass: Value;
  /** V */
  readonly vocabulary: number;
}

/**
 * Reshapes a head's weights to [R, ceil(V / BLOCK), BLOCK], padded with zeros, and sums the blocks.
 * @param weights [R, V]
 */
export function weightsInBlocks(e: Emitter, weights: Value): Weights {
  const vocabulary = weights.shape[1] as number;
  const blocks = Math.ceil(vocabulary / BLOCK);
  const rest = blocks * BLOCK - vocabulary;
  // padded, not concatenated with zeros: CUDA's Concat copies a table of all columns to the device in every run
  const whole = rest === 0 ? weights : e.g.op("Pad", [weights, e.g.ints([0, 0, 0, rest]), e.g.scalar(0)]);
  // R may be open, so that Reshape infers it
  const grid = e.reshape(whole, [-1, blocks, BLOCK]);
  return { grid, mass: e.sum(grid, [2], false), vocabulary };
}

/**
 * Samples one token per row by inverse CDF in two levels: first the block of 64 tokens, then the token inside it. This
 * needs no running sum over the whole vocabulary, and one uniform number per row.
 * @param logProbs [R, V]
 * @param uniform [R] in [0, 1)
 * @param fallback [R] int64, taken where rounding would pick an impossible token
 * @returns [R] int64
 */
export function inverseCdf(e: Emitter, logProbs: Value, uniform: Value, fallback: Value): Value {
  const draw = { logProbs, uniform, fallback: e.unsqueeze(fallback, [1]) };
  return e.squeeze(drawTokens(e, weightsInBlocks(e, e.exp(logProbs)), draw).token, [1]);
}

/**
 * {@link inverseCdf} over existing weights, for each row once (K = 1), or once more without a token (K = 2).
 * @param draw `fallback` [R, K]; `unit` [R]: the log-probability of weight 1, default 0; `without`: the token that may
 *   not be drawn in the second column, whose weight counts as 0 there.
 * @returns [R, K]: `token`, its log-probability among the allowed weights, and that of weight 1.
 */
export function drawTokens(
  e: Emitter,
  { grid, mass: whole, vocabulary }: Weights,
  draw: {
    readonly logProbs: Value;
    readonly uniform: Value;
    readonly fallback: Value;
    readonly unit?: Value;
    readonly without?: number;
  },
): { readonly token: Value; readonly logProb: Value; readonly unitLogProb: Value } {
  const { logProbs, uniform, fallback, unit, without } = draw;
  const blocks = whole.shape[1] as number;
  const place = without === undefined ? undefined : { block: Math.floor(without / BLOCK), column: without % BLOCK };
  const isAt = (shape: number[], at: number): Value =>
    e.g.constant(
      "bool",
      shape,
      Array.from({ length: shape.reduce((n, d) => n * d) }, (_, i) => (i === at ? 1 : 0)),
    );
  const isSecond = isAt([1, 2], 1);
  let mass = e.unsqueeze(whole, [1]);
  if (place !== undefined) {
    // the others are summed afresh: a difference of sums may be all rounding
    const block = e.squeeze(e.slice(grid, 1, place.block, place.block + 1), [1]);
    const others = e.sum(e.where(isAt([1, BLOCK], place.column), e.g.scalar(0), block), [1]);
    mass = e.concat([mass, e.unsqueeze(e.where(isAt([1, blocks], place.block), others, whole), [1])], 1);
  }
  const axis = e.g.scalar(2, "int64");
  const running = e.g.op("CumSum", [mass, axis]);
  const total = e.slice(running, 2, blocks - 1, blocks);
  // probabilities sum to 1 only up to rounding: scale the noise by their own total
  const target = e.mul(e.unsqueeze(uniform, [1, 2]), total);
  // counted in float32, exact below 2^24: accelerators leave sums of integers to the CPU
  const countBelow = (sums: Value, limit: Value, size: number): Value =>
    e.cast(e.min(e.sum(e.indicator(e.lessOrEqual(sums, limit)), [2]), size - 1), "int64");
  const block = countBelow(running, target, blocks);
  const before = e.gatherElements(e.sub(running, mass), block, 2);
  let chosen = e.gatherElements(grid, e.expand(block, [1, 1, BLOCK]), 1);
  if (place !== undefined) {
    const isHere = e.equal(block, e.g.scalar(place.block, "int64"));
    const excluded = e.g.op("And", [isHere, isAt([1, 2, BLOCK], BLOCK + place.column)]);
    chosen = e.where(excluded, e.g.scalar(0), chosen);
  }
  const inside = countBelow(e.g.op("CumSum", [chosen, axis]), e.sub(target, before), BLOCK);
  const token = e.squeeze(e.add(e.mul(block, e.g.scalar(BLOCK, "int64")), inside), [2]);
  const safe = e.min(token, e.g.scalar(vocabulary - 1, "int64"));
  const unitLogProb = e.neg(e.log(e.squeeze(total, [2])));
  const offset = unit === undefined ? unitLogProb : e.sub(unitLogProb, e.unsqueeze(unit, [1]));
  const given = (tokens: Value): Value => e.gatherElements(logProbs, tokens, 1);
  let impossible = e.less(e.add(given(safe), offset), IMPOSSIBLE);
  if (without !== undefined) {
    const isLeft = e.g.op("And", [e.equal(safe, e.g.scalar(without, "int64")), isSecond]);
    impossible = e.g.op("Or", [impossible, isLeft]);
  }
  const drawn = e.where(impossible, fallback, safe);
  const allowed = given(drawn);
  const logProb = without === undefined ? allowed : e.add(allowed, e.where(isSecond, offset, e.g.scalar(0)));
  return { token: drawn, logProb, unitLogProb };
}
