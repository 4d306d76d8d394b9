import type { Emitter } from "../../onnx/emit.js";
import { type Formula, rewritten } from "../../onnx/passes/written-out.js";
import { type ExternalData, type Graph, isExternal, type Value } from "../../onnx/types.js";

/** Most elements of a matrix that is cast in one piece where a gradient reads it too: 256 MB of float32. */
const LARGE = 2 ** 26;

/** As many pieces are cast as one where no gradient reads them: a round starts fewer kernels, and has memory to spare. */
const PIECES = 4;

/**
 * Rows of a matrix that is one piece are a multiple of 8, whose rows of results begin at 16 bytes, and rows of blocks a
 * multiple of 64, a tile. The kernels for other sizes are slow: on an H100 a product with 151,671 rows ran at 135
 * TFLOP/s in TF32, with 151,680 at 342.
 */
const [ALIGNED, TILE] = [8, 64];

/**
 * Rewrites products with a large matrix W [V, D] stored in 16 bits: a block of rows of W is cast, multiplied, and
 * freed. A block is a weight of its own, a range of the same file. Blocks have equal sizes; rows beyond the end repeat
 * the last one, and their columns of the result are cut off (their gradient is 0).
 * @param large most elements of a matrix that is cast in one piece, if its rows are aligned.
 * @param tile a number of which a block's rows are a multiple.
 */
export function inBlocks(graph: Graph, large = LARGE, tile = TILE): Graph {
  const stored = new Map<string, Stored>();
  for (const { op, inputs, outputs } of graph.nodes) {
    const { value, data } = graph.initializers.get(inputs[0]?.name ?? "") ?? {};
    if (op === "Cast" && value !== undefined && data && isExternal(data) && outputs[0]?.dtype === "float32")
      stored.set(outputs[0].name, { value, data });
  }
  const uses = new Map<string, number>();
  for (const { op, inputs } of graph.nodes) {
    const read = op === "Gemm" ? stored.get(inputs[1]?.name ?? "")?.value.name : undefined;
    if (read !== undefined) uses.set(read, (uses.get(read) ?? 0) + 1);
  }
  return rewritten(graph, (node, write) => {
    const [a, cast, c] = node.inputs;
    const weight = stored.get(cast?.name ?? "");
    if (node.op !== "Gemm" || a === undefined || weight === undefined) return [node];
    const { transA = 0, alpha = 1, beta = 1 } = node.attributes;
    if (Number(transA) === 1 || Number(alpha) !== 1 || Number(beta) !== 1) return [node];
    const [rows, columns] = weight.value.shape as [number, number];
    const pieces = Math.ceil((rows * columns) / large);
    const together = uses.get(weight.value.name) === 1 ? Math.min(PIECES, pieces) : 1;
    if (pieces === together && rows % ALIGNED === 0) return [node];
    // a block of a round consists of whole pieces: an update, which reads one at a time, finds them on the device
    const count = pieces <= PIECES ? pieces : PIECES * Math.ceil(pieces / PIECES);
    const size = together * Math.ceil(rows / count / tile) * tile;
    const formula = Number(node.attributes.transB ?? 0) === 1 ? timesTransposed : times;
    // a separate path: names under the node's own are used by the weight's dependencies
    const whole = { ...node, name: `${node.name}/blocks`, inputs: c === undefined ? [a] : [a, c] };
    return write(whole, node.outputs[0] as Value, formula(weight, size));
  });
}

/** A matrix [V, D] in a file. */
interface Stored {
  readonly value: Value;
  readonly data: ExternalData;
}

/** Computes the first row of every block of `size` rows. */
const starts = (rows: number, size: number): number[] =>
  Array.from({ length: Math.ceil(rows / size) }, (_, i) => i * size);

/** `size` rows of W in float32; rows beyond the end repeat the last one. */
function blockOf(e: Emitter, { value, data }: Stored, from: number, size: number): Value {
  const [rows, columns] = value.shape as [number, number];
  const own = Math.min(size, rows - from);
  const row = data.length / rows;
  const range = { file: data.file, offset: data.offset + from * row, length: own * row };
  const block = e.g.initializer(`/${value.name}/${from}`, value.dtype, [own, columns], range);
  if (own === size) return e.cast(block, "float32");
  const indices = Array.from({ length: size }, (_, i) => Math.min(i, own - 1));
  return e.cast(e.gather(block, e.g.ints(indices)), "float32");
}

/** x W^T + c [R, V] in blocks of equal size: otherwise CUDA's Concat copies a table of V indices to the device. */
const timesTransposed =
  (weight: Stored, size: number): Formula =>
  (e, x, c) => {
    const columns = weight.value.shape[0] as number;
    const parts = starts(columns, size).map((from) => e.gemm(x, blockOf(e, weight, from, size), { transB: true }));
    const whole = parts.length === 1 ? (parts[0] as Value) : e.concat(parts, 1);
    const plain = size * parts.length === columns ? whole : e.slice(whole, 1, 0, columns);
    return c === undefined ? plain : e.add(plain, c);
  };

/** dy W + c [R, D], summed over blocks of rows. */
const times =
  (weight: Stored, size: number): Formula =>
  (e, dy, c) => {
    const columns = weight.value.shape[0] as number;
    const parts = starts(columns, size).map((from) => {
      const part = e.slice(dy, 1, from, Math.min(columns, from + size));
      const missing = Math.max(0, from + size - columns);
      const whole = missing === 0 ? part : e.g.op("Pad", [part, e.g.ints([0, 0, 0, missing]), e.g.scalar(0)]);
      return e.gemm(whole, blockOf(e, weight, from, size));
    });
    // accumulated by the product (Gemm's C), ONNX Runtime would cast all blocks before the first product
    const terms = c === undefined ? parts : [c, ...parts];
    return terms.length === 1 ? (terms[0] as Value) : e.g.op("Sum", terms);
  };
