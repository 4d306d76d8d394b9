import type { Emitter } from "../emit.js";
import type { Dim, Value } from "../types.js";

/**
 * Returns a constant that is available only after `behind`: the same memory under a reshape whose target depends on it.
 * ONNX Runtime folds expressions of constants when a graph is loaded, and merges equal expressions. A 4-bit or 16-bit
 * weight that is decoded after its consumer's other operand is neither decoded permanently nor shared between the
 * forward and the backward pass: only one decoded matrix exists at a time.
 * @param shape of the result. No reshape may follow: ONNX Runtime would fuse the two and drop the dependency.
 */
export function delayed(e: Emitter, constant: Value, behind: Value, shape: readonly Dim[] = constant.shape): Value {
  const zero = zeroBehind(e, behind);
  const target = shape.length === 0 ? e.slice(zero, 0, 0, 0) : e.add(e.g.ints(shape), zero);
  return e.g.op("Reshape", [constant, { ...target, content: shape }]);
}

/** An int64 zero [1] that depends on `behind`; NaN and infinity in it are harmless. */
function zeroBehind(e: Emitter, behind: Value): Value {
  let first = behind;
  behind.shape.forEach((size, axis) => {
    if (size !== 1) first = e.gather(first, e.g.ints([0]), axis);
  });
  return e.min(e.cast(e.cast(e.reshape(first, [1]), "bool"), "int64"), 0);
}
