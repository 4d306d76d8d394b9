import { allowedLogProbs, inverseCdf, pickLogProb } from "../../../diffusion/head.js";
import { DRAW_INPUTS, type RoundHead } from "../../../diffusion/sampler.js";
import { type ScoreHead, TARGETS } from "../../../diffusion/score-head.js";
import type { Emitter } from "../../../onnx/emit.js";
import type { Tensor, Value } from "../../../onnx/types.js";

/**
 * Stay and jump probabilities of discrete flow matching, exact over a step (FS-DFM, arXiv 2509.20624, its cumulative
 * scalar): with z the current token, p the model's prediction of x_1 and r = (1 - kappa(t+h)) / (1 - kappa(t)),
 *
 *   P(stay) = r^(1 - p_z),   P(j) = (1 - r^(1 - p_z)) p_j / (1 - p_z);   last step: P(j) = p_j
 *
 * In logarithms, with hazard g = -log r, q = 1 - p_z and x = g q:
 *   log P(stay) = -x,   log P(j) = log p_j + log g + log phi(x),   phi(x) = (1 - exp(-x)) / x
 * so that no digits cancel where the model is sure of z (q -> 0).
 */
const FEATURES = {
  current: { dtype: "int64", shape: ["R"] },
  hazard: { dtype: "float32", shape: ["R"] },
  last: { dtype: "float32", shape: ["R"] },
} as const;
type Inputs<K extends string> = Readonly<Record<K | "inverse_temperature", Value>>;

/** Below this, phi is its Taylor series: float32 loses the difference 1 - exp(-x). */
const SMALL = 0.1;

/** Lower limit of q: 1 - p_z rounds to 0 where p_z rounds to 1. */
const LEAST_DOUBT = 1e-12;

/** log((1 - exp(-x)) / x) for x >= 0. */
function logPhi(e: Emitter, x: Value): Value {
  const large = e.max(x, SMALL);
  const exact = e.div(e.sub(1, e.exp(e.neg(large))), large);
  // 1 - x/2 + x^2/6 - x^3/24 + x^4/120: below 2e-8 at x = 0.1
  const small = e.min(x, SMALL);
  let series: Value | number = 1 / 120;
  for (const coefficient of [-1 / 24, 1 / 6, -1 / 2, 1]) series = e.add(e.mul(small, series), coefficient);
  return e.log(e.where(e.less(x, SMALL), series as Value, exact));
}

interface Jump {
  /** [R] log P(stay) */
  readonly stay: Value;
  /** [R] log P(j) - log p_j of every other token */
  readonly shift: Value;
}

/** @param logCurrent [R] log p of the current token. */
function jumpOf(e: Emitter, logCurrent: Value, hazard: Value): Jump {
  const doubt = e.max(e.sub(1, e.exp(logCurrent)), LEAST_DOUBT);
  const x = e.mul(hazard, doubt);
  return { stay: e.neg(x), shift: e.add(e.log(hazard), logPhi(e, x)) };
}

/** Draws of a step: one token per row with its log-probability (nats). */
export interface Drawn {
  /** [R] the next token */
  readonly token: BigInt64Array;
  /** [R] log-probability of that transition, nats */
  readonly logProb: Float32Array;
}

/** Draws the next token of every row. */
export const jumpRoundHead: RoundHead<Drawn> = {
  inputs: { ...DRAW_INPUTS, ...FEATURES },
  emit(e, outputs, inputs, { tokens }) {
    const { inverse_temperature, uniform, current, hazard, last } = inputs as Inputs<keyof typeof FEATURES | "uniform">;
    const logits = outputs.logits as Value;
    const vocabulary = logits.shape.at(-1) as number;
    const logProbs = allowedLogProbs(e, logits, inverse_temperature, tokens, undefined);
    const { stay, shift } = jumpOf(e, pickLogProb(e, logProbs, current), hazard);
    const column = (v: Value): Value => e.unsqueeze(v, [1]);
    const ids = e.g.constant(
      "int64",
      [1, vocabulary],
      Array.from({ length: vocabulary }, (_, v) => v),
    );
    const isCurrent = e.equal(ids, column(current));
    const moving = e.where(isCurrent, column(stay), e.add(logProbs, column(shift)));
    const transition = e.where(column(e.greater(last, 0.5)), logProbs, moving);
    const [, best] = e.g.node("TopK", [transition, e.g.ints([1])], { axis: -1 }) as [Value, Value];
    const token = inverseCdf(e, transition, uniform, e.squeeze(best, [1]));
    e.g.output("token", token);
    e.g.output("log_prob", pickLogProb(e, transition, token));
  },
  read: (outputs) => ({
    token: (outputs.token as Tensor).data as BigInt64Array,
    logProb: (outputs.log_prob as Tensor).data as Float32Array,
  }),
};

/** Scores the log-probability of the transition from `current` to the target. */
export const transitionHead: ScoreHead = {
  name: "transition",
  inputs: { ...TARGETS, ...FEATURES },
  emit(e, { logits }, inputs, { tokens }) {
    const { targets, inverse_temperature, current, hazard, last } = inputs as Inputs<keyof typeof FEATURES | "targets">;
    const logProbs = allowedLogProbs(e, logits as Value, inverse_temperature, tokens, undefined);
    const target = pickLogProb(e, logProbs, targets);
    const { stay, shift } = jumpOf(e, pickLogProb(e, logProbs, current), hazard);
    const moved = e.where(e.equal(targets, current), stay, e.add(target, shift));
    return e.where(e.greater(last, 0.5), target, moved);
  },
};

/**
 * Minus the generalised KL of a token without its factor kappa' / (1 - kappa), which is the term's coefficient:
 *   p(x_t) - d + (1 - d) log p(x_1),   d = 1 where x_t = x_1 (the target), x_t the row's current token.
 */
export const generalisedKlHead: ScoreHead = {
  name: "gkl",
  inputs: { ...TARGETS, current: FEATURES.current },
  emit(e, { logits }, inputs, { tokens }) {
    const { targets, inverse_temperature, current } = inputs as Inputs<"targets" | "current">;
    const logProbs = allowedLogProbs(e, logits as Value, inverse_temperature, tokens, undefined);
    const logCurrent = pickLogProb(e, logProbs, current);
    const unchanged = e.sub(e.exp(logCurrent), 1);
    const corrupted = e.add(e.exp(logCurrent), pickLogProb(e, logProbs, targets));
    return e.where(e.equal(targets, current), unchanged, corrupted);
  },
};
