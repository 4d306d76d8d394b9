import type { Emitter } from "../emit.js";
import type { Dim, Value } from "../types.js";

/**
 * A constant that is known only once `behind` is: the same memory under a reshape whose target waits for `behind`.
 * ONNX Runtime folds whatever depends on constants alone when a graph is loaded, and merges equal expressions. A 4-bit
 * or 16-bit weight that is decoded behind its consumer's other operand is neither decoded for good nor shared between
 * the forward and the backward pass: one decoded matrix lives at a time.
 * @param shape of the result. No reshape may follow: ONNX Runtime would fuse the two and lose the wait.
 */
export function late(e: Emitter, constant: Value, behind: Value, shape: readonly Dim[] = constant.shape): Value {
  const zero = zeroBehind(e, behind);
  const target = shape.length === 0 ? e.slice(zero, 0, 0, 0) : e.add(e.g.ints(shape), zero);
  return e.g.op("Reshape", [constant, { ...target, content: shape }]);
}

/** An int64 zero [1] that is computed when `behind` is; NaN and infinity in it do no harm. */
function zeroBehind(e: Emitter, behind: Value): Value {
  let first = behind;
  behind.shape.forEach((size, axis) => {
    if (size !== 1) first = e.gather(first, e.g.ints([0]), axis);
  });
  return e.min(e.cast(e.cast(e.reshape(first, [1]), "bool"), "int64"), 0);
}
