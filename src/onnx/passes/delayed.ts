import type { Emitter } from "../emit.js";
import type { GraphBuilder } from "../graph.js";
import type { Dim, Value } from "../types.js";

/**
 * Returns a constant that is available only after `behind`: the same memory under a reshape whose target depends on it.
 * ONNX Runtime folds expressions of constants when a graph is loaded, and merges equal expressions. A 4-bit or 16-bit
 * weight that is decoded after its consumer's other operand is neither decoded permanently nor shared between the
 * forward and the backward pass: only one decoded matrix exists at a time.
 * @param shape of the result. No reshape may follow: ONNX Runtime would fuse the two and drop the dependency.
 */
export function delayed(e: Emitter, constant: Value, behind: Value, shape: readonly Dim[] = constant.shape): Value {
  const zero = cached(e.g, behind.name, () => zeroBehind(e, behind));
  // a 0 in a target keeps the dimension: values of one rank have the same target, but for vectors, where ONNX Runtime
  // takes a single unknown dimension for -1 and drops the dependency
  const kept = (): Value => e.concat(new Array<Value>(shape.length).fill(zero), 0);
  const other = (): Value => (shape.length === 0 ? e.slice(zero, 0, 0, 0) : e.add(e.g.ints(shape), zero));
  const isKept = shape === constant.shape && shape.length > 1;
  const target = isKept ? cached(e.g, `${behind.name} ${shape.length}`, kept) : other();
  return e.g.op("Reshape", [constant, { ...target, content: shape }]);
}

/** Values of a graph that wait, each made once: on a device, a target is copied to the host. */
const made = new WeakMap<GraphBuilder, Map<string, Value>>();

function cached(g: GraphBuilder, key: string, make: () => Value): Value {
  const values = made.get(g) ?? new Map<string, Value>();
  made.set(g, values);
  const value = values.get(key) ?? make();
  values.set(key, value);
  return value;
}

/** An int64 zero [1] that depends on `behind`; NaN and infinity in it are harmless. */
function zeroBehind(e: Emitter, behind: Value): Value {
  let first = behind;
  behind.shape.forEach((size, axis) => {
    if (size !== 1) first = e.gather(first, e.g.ints([0]), axis);
  });
  return e.min(e.cast(e.cast(e.reshape(first, [1]), "bool"), "int64"), 0);
}
