import { type Formula, rewritten } from "../passes/written-out.js";
import type { Lowering } from "../session.js";
import { product } from "../shapes.js";
import type { Value } from "../types.js";

/**
 * Rewrites ScatterND with a reduction as ScatterElements over rows. ONNX Runtime splits ScatterND's updates among
 * threads, two of which may write one element at once, so that sums with repeated indices lose terms (1.30.0, and main
 * since); its ScatterElements runs in one thread.
 */
export const lowering: Lowering = (graph) =>
  rewritten(graph, (node, write) => {
    const { reduction = "none" } = node.attributes;
    if (node.op !== "ScatterND" || reduction === "none") return [node];
    return write(node, node.outputs[0] as Value, scatterRows(String(reduction)));
  });

/** data [R.., C..], indices [N.., k] into its first k axes, updates [N.., C..]. */
const scatterRows =
  (reduction: string): Formula =>
  (e, data, ...rest) => {
    const { g } = e;
    const [indices, updates] = rest as [Value, Value];
    const k = indices.shape.at(-1) as number;
    const rows = g.op("Flatten", [updates], { axis: indices.shape.length - 1 });
    const size = g.op("Shape", [data]);
    const dims = Array.from({ length: k }, (_, j) => e.slice(size, 0, j, j + 1));
    // Horner's rule; Mod counts a negative index from the end
    const row = dims
      .map((dim, j) => g.op("Mod", [e.slice(indices, -1, j, j + 1), dim]))
      .reduce((sum, index, j) => e.add(e.mul(sum, dims[j] as Value), index));
    const index = g.op("Expand", [e.reshape(row, [product(indices.shape.slice(0, -1)), 1]), g.op("Shape", [rows])]);
    const flat = g.op("Flatten", [data], { axis: k });
    return e.reshapeTo(g.op("ScatterElements", [flat, index, rows], { axis: 0, reduction }), size);
  };
