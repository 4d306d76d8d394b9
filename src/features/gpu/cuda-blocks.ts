import type { Emitter } from "../../onnx/emit.js";
import { type Formula, rewritten } from "../../onnx/passes/written-out.js";
import { type Graph, isExternal, type Value } from "../../onnx/types.js";

/** Most elements of a matrix that is cast in one piece: 256 MB of float32. */
export const LARGE = 2 ** 26;

/**
 * Rewrites products with a large matrix W [V, D] stored in 16 bits: a block of rows of W is cast, multiplied, and
 * freed. A block's rows are gathered at indices that depend on the other operand: ONNX Runtime would otherwise cast
 * all blocks early, and keep the matrix in float32 until it is used.
 */
export function inBlocks(graph: Graph, large: number): Graph {
  const stored = new Map<string, Value>();
  for (const { op, inputs, outputs } of graph.nodes) {
    const weight = graph.initializers.get(inputs[0]?.name ?? "");
    if (op === "Cast" && weight !== undefined && isExternal(weight.data) && outputs[0]?.dtype === "float32")
      stored.set(outputs[0].name, weight.value);
  }
  return rewritten(graph, (node, write) => {
    const [a, cast, c] = node.inputs;
    const weight = stored.get(cast?.name ?? "");
    if (node.op !== "Gemm" || a === undefined || weight === undefined) return [node];
    const { transA = 0, alpha = 1, beta = 1 } = node.attributes;
    if (Number(transA) === 1 || Number(alpha) !== 1 || Number(beta) !== 1) return [node];
    const [rows, columns] = weight.shape as [number, number];
    const blocks = Math.ceil((rows * columns) / large);
    if (blocks === 1) return [node];
    const formula = Number(node.attributes.transB ?? 0) === 1 ? timesTransposed(blocks) : times(blocks);
    // a separate path: names under the node's own are used by the weight's dependencies
    const whole = { ...node, name: `${node.name}/blocks`, inputs: c === undefined ? [a, weight] : [a, weight, c] };
    return write(whole, node.outputs[0] as Value, formula);
  });
}

/** Computes the first row of every block, and the end. */
function bounds(rows: number, blocks: number): number[] {
  const size = Math.ceil(rows / blocks);
  return Array.from({ length: blocks + 1 }, (_, i) => Math.min(rows, i * size));
}

/** Rows [from, to) of W in float32, computed only after `behind`; indices beyond the end repeat the last row. */
function blockOf(e: Emitter, behind: Value, weight: Value, from: number, to: number): Value {
  const first = e.g.ints([0]);
  const corner = e.gather(e.gather(behind, first), first, 1);
  // cast to boolean first, so that NaN and infinity become harmless
  const zero = e.mul(e.reshape(e.cast(e.cast(corner, "bool"), "int64"), [1]), e.g.scalar(0, "int64"));
  const last = (weight.shape[0] as number) - 1;
  const indices = e.g.ints(Array.from({ length: to - from }, (_, i) => Math.min(from + i, last)));
  return e.cast(e.gather(weight, e.add(indices, zero)), "float32");
}

/** x W^T + c [R, V] in blocks of equal size: otherwise CUDA's Concat copies a table of V indices to the device. */
const timesTransposed =
  (blocks: number): Formula =>
  (e, x, weight, c) => {
    const columns = (weight as Value).shape[0] as number;
    const size = Math.ceil(columns / blocks);
    const parts = Array.from({ length: blocks }, (_, i) =>
      e.gemm(x, blockOf(e, x, weight as Value, i * size, (i + 1) * size), { transB: true }),
    );
    const whole = e.concat(parts, 1);
    const plain = blocks * size === columns ? whole : e.slice(whole, 1, 0, columns);
    return c === undefined ? plain : e.add(plain, c);
  };

/** dy W + c [R, D], summed over blocks of rows. */
const times =
  (blocks: number): Formula =>
  (e, dy, weight, c) => {
    const at = bounds((weight as Value).shape[0] as number, blocks);
    let sum = c;
    at.slice(1).forEach((to, i) => {
      const from = at[i] as number;
      const rows = blockOf(e, i === 0 || sum === undefined ? dy : sum, weight as Value, from, to);
      sum = e.gemm(e.slice(dy, 1, from, to), rows, sum === undefined ? {} : { c: sum });
    });
    return sum as Value;
  };
