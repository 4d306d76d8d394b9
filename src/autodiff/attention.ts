import { axisOf } from "../onnx/shapes.js";
import type { Value } from "../onnx/types.js";
import { gradientOf, type RuleContext, type Thunk } from "./rule.js";

export interface AttentionGradient {
  /** The gradient dS of the softmax's input. */
  readonly scores: Thunk;
  /** Builds the weights P for the gradients; large ones may be recomputed. */
  weights(): Value;
}

/**
 * Returns the gradient of a product O = P V with P = softmax(S) (FlashAttention, Dao et al. 2022, arXiv 2205.14135,
 * appendix B.2): dS = P * (dP - sum(dP * P)). The sum over the keys is sum(dO * O) over the width of a head, so that
 * dP - sum is one product with one more column: [dO | -sum] [V | 1]^T.
 * @returns undefined where P is not the output of a softmax.
 */
export function attentionOf(c: RuleContext): AttentionGradient | undefined {
  const { e } = c;
  const [p, v] = [c.x(0), c.x(1)];
  const softmax = c.source()?.node;
  const scores = softmax?.inputs[0];
  if (softmax?.op !== "Softmax" || scores === undefined) return undefined;
  const last = scores.shape.length - 1;
  const isLast = axisOf(Number(softmax.attributes.axis ?? -1), last + 1) === last;
  const isPlain = isLast && scores.shape[last] === p.shape.at(-1);
  if (!isPlain || p.shape.slice(0, -2).join() !== v.shape.slice(0, -2).join()) return undefined;
  let made: Value | undefined;
  const weights = (): Value => {
    made ??= c.rematerialized(0);
    return made;
  };
  const axis = p.shape.length - 1;
  const centred = (): Value => {
    const sums = e.sum(e.mul(c.dy, c.y()), [-1]);
    return e.matmul(e.concat([c.dy, e.neg(sums)], axis), e.swap(e.withOnes(c.rematerialized(1), axis)));
  };
  return {
    weights,
    scores: gradientOf(scores, () => e.reshape(e.mul(centred(), weights()), scores.shape)),
  };
}
