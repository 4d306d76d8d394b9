import { axisOf, sizeOf } from "../onnx/shapes.js";
import type { Node, Value } from "../onnx/types.js";
import { gradientOf, type RuleContext, type Thunk } from "./rule.js";

export interface AttentionGradient {
  /** The gradient of the scores that the softmax takes. */
  readonly scores: Thunk;
  /** The weights P as the gradients read them. */
  weights(): Value;
}

/** Weights of this size and more, in bytes, are not kept for the backward pass. */
const LARGE = 4 * 2 ** 20;

/**
 * The gradient of a product O = P V with P = softmax(S), S = Q K + bias (FlashAttention, Dao et al. 2022, arXiv
 * 2205.14135, section 3.1 and appendix B.2).
 *
 * dS = P * (dP - sum(dP * P)), and that sum over the keys is sum(dO * O) over the width of a head. So dP - sum is one
 * product with one more column: [dO | -sum] [V | 1]^T. Where P is large it is computed again, from the logarithm of its
 * denominator, with one more column too: P = exp([Q | -lse] [K | 1] + bias).
 * @returns undefined where no softmax lies behind the product.
 */
export function attentionOf(c: RuleContext): AttentionGradient | undefined {
  const { e, g } = c;
  const [p, v] = [c.x(0), c.x(1)];
  const softmax = c.source();
  const scores = softmax?.node.inputs[0];
  if (softmax?.node.op !== "Softmax" || scores === undefined) return undefined;
  const last = scores.shape.length - 1;
  const isLast = axisOf(Number(softmax.node.attributes.axis ?? -1), last + 1) === last;
  const isPlain = isLast && scores.shape[last] === p.shape.at(-1);
  if (!isPlain || p.shape.slice(0, -2).join() !== v.shape.slice(0, -2).join()) return undefined;

  const axis = p.shape.length - 1;
  /** [x | column] along an axis. */
  const withOnes = (x: Value, along: number): Value => {
    const shape = x.shape.map((d, i) => (i === along ? 1 : (d as number)));
    return e.concat([x, e.expand(g.scalar(1, x.dtype), shape)], along);
  };
  const once = (make: () => Value): (() => Value) => {
    let made: Value | undefined;
    return () => (made ??= make());
  };
  const sums = once(() => e.sum(e.mul(c.dy, c.y()), [-1]));
  const weights = once(() => {
    // a layer that is computed again keeps its weights for that long only
    const parts = softmax.node === softmax.read && sizeOf(p.shape) * 4 >= LARGE ? partsOf(c, scores) : undefined;
    if (parts === undefined) return p;
    const lse = e.sub(e.maxOver(scores, [-1]), e.log(e.maxOver(softmax.node.outputs[0] as Value, [-1])));
    // known once the gradient is, and no earlier
    const column = e.neg(e.add(e.reshape(lse, sums().shape as number[]), e.clip(sums(), 0, 0)));
    const shifted = e.matmul(e.concat([parts.rows, column], axis), withOnes(parts.keys, axis - 1));
    return e.reshape(e.exp(e.add(e.reshape(shifted, scores.shape as number[]), parts.bias)), p.shape as number[]);
  });
  return {
    weights,
    scores: gradientOf(scores, () => {
      const centred = e.matmul(e.concat([c.dy, e.neg(sums())], axis), e.swap(withOnes(v, axis)));
      return e.reshape(e.mul(centred, weights()), scores.shape as number[]);
    }),
  };
}

/** What scores are the sum of: a product of rows and keys, and a bias. */
function partsOf(c: RuleContext, scores: Value): { rows: Value; keys: Value; bias: Value } | undefined {
  const made = (value: Value): Node | undefined => {
    const node = c.g.producer(value);
    return node?.op === "Reshape" ? made(node.inputs[0] as Value) : node;
  };
  const sum = c.g.producer(scores);
  if (sum?.op !== "Add" || made(c.x(0))?.op !== "Softmax") return undefined;
  for (const [product, bias] of [sum.inputs, [...sum.inputs].reverse()] as [Value, Value][]) {
    const by = made(product);
    const [rows, keys] = by?.inputs ?? [];
    if (by?.op === "MatMul" && rows !== undefined && keys !== undefined) return { rows, keys, bias };
  }
  return undefined;
}
