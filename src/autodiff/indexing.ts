import { sliceRange } from "../onnx/infer.js";
import { axisOf, product } from "../onnx/shapes.js";
import type { Dim, Value } from "../onnx/types.js";
import type { Rule, RuleContext } from "./rule.js";

/** Gradients of the operators that read or write parts of a tensor. */

/** Adds the rows of dy into zeros of x's shape at the gathered indices. */
export const gather: Rule = (c) => [
  () => {
    const { e } = c;
    const [x, indices] = [c.x(0), c.x(1)];
    const axis = axisOf(c.int("axis", 0), x.shape.length);
    const { shape } = x;
    const n = product(indices.shape);
    if (axis !== 0) {
      const place =
        indices.shape.length === 0
          ? e.unsqueeze(c.dy, [axis])
          : e.reshape(c.dy, [...shape.slice(0, axis), n, ...shape.slice(axis + 1)]);
      const index = e.expand(
        e.reshape(
          indices,
          shape.map((_, i) => (i === axis ? n : 1)),
        ),
        place.shape,
      );
      return c.g.op("ScatterElements", [e.zeros(shape, x.dtype), index, place], { axis, reduction: "add" });
    }
    const rows = e.reshape(c.dy, [n, ...shape.slice(1)]);
    // ScatterND takes int64 only, Gather int32 too
    return c.g.op("ScatterND", [e.zeros(shape, x.dtype), e.cast(e.reshape(indices, [n, 1]), "int64"), rows], {
      reduction: "add",
    });
  },
  null,
];

/** Places `part` at every `step`-th of `size` positions of an axis, from `first` on; the others are zero. */
function padded(c: RuleContext, part: Value, axis: number, size: number, first: number, step: number): Value {
  const { e } = c;
  const n = part.shape[axis] as number;
  const sized = (d: number): Dim[] => part.shape.map((size, i) => (i === axis ? d : size));
  if (step === 1) {
    const around = (d: number): Value[] => (d === 0 ? [] : [e.zeros(sized(d), part.dtype)]);
    return e.concat([...around(first), part, ...around(size - first - n)], axis);
  }
  const index = e.reshape(
    c.g.ints(Array.from({ length: n }, (_, i) => first + i * step)),
    part.shape.map((_, i) => (i === axis ? n : 1)),
  );
  return c.g.op("ScatterElements", [e.zeros(sized(size), part.dtype), e.expand(index, part.shape), part], {
    axis,
  });
}

export const slice: Rule = (c) => [
  () => {
    const { shape } = c.x();
    const starts = c.ints(1, "starts") as readonly number[];
    const ends = c.ints(2, "ends") as readonly number[];
    const axes = c.ints(3, "axes") ?? starts.map((_, i) => i);
    const steps = c.ints(4, "steps") ?? starts.map(() => 1);
    return axes.reduce((part, raw, i) => {
      const axis = axisOf(raw, shape.length);
      const size = shape[axis] as number;
      const step = steps[i] as number;
      return padded(c, part, axis, size, sliceRange(size, starts[i] as number, ends[i] as number, step).first, step);
    }, c.dy);
  },
  null,
  null,
  null,
  null,
];

/** Gradient of a scatter into x, with or without addition; `take` reads the same indices. */
export const scatter =
  (take: (c: RuleContext) => Value): Rule =>
  (c) => {
    const reduction = c.node.attributes.reduction ?? "none";
    if (reduction !== "add" && reduction !== "none") c.refuse(`with reduction ${reduction}`);
    return [
      // without reduction, the overwritten elements have gradient 0
      () =>
        reduction === "add"
          ? c.dy
          : c.g.op(c.node.op, [c.dy, c.x(1), c.e.zeros(c.x(2).shape, c.dy.dtype)], c.node.attributes),
      null,
      () => take(c),
    ];
  };
