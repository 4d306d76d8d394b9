import { axisOf } from "../onnx/shapes.js";
import type { Value } from "../onnx/types.js";
import type { Rule, RuleContext } from "./rule.js";

/** Gradients of the normalisations. */

/** The axes over which a normalisation takes its statistics. */
function normalizedAxes(c: RuleContext): readonly number[] {
  const rank = c.x().shape.length;
  return [...Array(rank).keys()].slice(axisOf(c.int("axis", -1), rank));
}

/** 1 / sqrt(mean(v^2) + eps): the forward pass's own output, or recomputed where the graph does not save it. */
function inverseDeviation(c: RuleContext, saved: Value | undefined, v: Value): Value {
  const { e } = c;
  if (saved !== undefined) return e.cast(saved, v.dtype);
  return c.g.op("Reciprocal", [e.sqrt(e.add(e.mean(e.mul(v, v), normalizedAxes(c)), c.int("epsilon", 1e-5)))]);
}

export const simplifiedLayerNormalization: Rule = (c) => {
  // y = x * inv * w with inv = 1 / sqrt(mean(x^2) + eps)
  c.firstOutputOnly();
  const { e } = c;
  const [x, w] = [c.x(0), c.x(1)];
  const axes = normalizedAxes(c);
  const inv = inverseDeviation(c, c.node.outputs[1], x);
  return [
    () => {
      // inv (dy w - n mean(dy w n)) with n = x inv, and w n = y
      const along = e.mul(e.mul(inv, inv), e.mean(e.mul(c.dy, c.y()), axes));
      return e.sub(e.mul(e.mul(c.dy, w), inv), e.mul(x, along));
    },
    () => e.mul(c.dy, e.mul(x, inv)),
  ];
};

export const layerNormalization: Rule = (c) => {
  c.firstOutputOnly();
  const { e } = c;
  const [x, w] = [c.x(0), c.x(1)];
  const axes = normalizedAxes(c);
  const mean = c.node.outputs[1];
  const centered = (): Value => e.sub(x, mean === undefined ? e.mean(x, axes) : e.cast(mean, x.dtype));
  const normalized = (): Value => e.mul(centered(), inverseDeviation(c, c.node.outputs[2], centered()));
  return [
    () => {
      const g = e.mul(c.dy, w);
      const n = normalized();
      const inv = inverseDeviation(c, c.node.outputs[2], centered());
      return e.mul(e.sub(e.sub(g, e.mean(g, axes)), e.mul(n, e.mean(e.mul(g, n), axes))), inv);
    },
    () => e.mul(c.dy, normalized()),
    () => c.dy,
  ];
};
