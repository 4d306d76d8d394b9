import type { RawModel, RawNode } from "../onnx/format/raw-model.js";
import { isExternal } from "../onnx/types.js";

/** Values that a graph computes from its weights alone. */
export interface WeightExpressions {
  /** Every value that depends only on weights and constants, with its producer. */
  readonly nodes: ReadonlyMap<string, RawNode>;
  /**
   * Those among them that hold a weight other than float32: the Cast of a 16-bit weight, the scales of a 4-bit one.
   * They are emitted at their uses (onnx/passes/delayed.ts), because decoded weights would stay in memory.
   */
  readonly packed: ReadonlySet<string>;
}

/** Finds the values of a graph that depend on its weights alone. */
export function weightExpressions(model: RawModel): WeightExpressions {
  const constant = new Set(model.initializers.keys());
  const packed = new Set<string>();
  for (const [name, { value, data }] of model.initializers)
    if (isExternal(data) && value.dtype !== "float32") packed.add(name);
  const nodes = new Map<string, RawNode>();
  for (const node of model.nodes) {
    const inputs = node.inputs.filter((name) => name !== undefined);
    if (inputs.length === 0 || !inputs.every((name) => constant.has(name))) continue;
    const holds = inputs.some((name) => packed.has(name));
    for (const output of node.outputs) {
      constant.add(output);
      nodes.set(output, node);
      if (holds) packed.add(output);
    }
  }
  for (const name of model.initializers.keys()) packed.delete(name);
  return { nodes, packed };
}
