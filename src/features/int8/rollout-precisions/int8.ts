import { misuse } from "../../../core/errors.js";
import type { RolloutPrecision } from "../../../engine/rollout-precision.js";
import type { Names } from "../../../onnx/names.js";
import { type Formula, rewritten } from "../../../onnx/passes/written-out.js";
import {
  type ExternalData,
  type Graph,
  type Initializer,
  isExternal,
  type Node,
  type Value,
} from "../../../onnx/types.js";
import { openStored } from "../../../weights/model-weights.js";

/** Largest absolute code; -128 is not used, so that a column and its negative have the same scale. */
const LARGEST = 127;
/** Least divisor of a row, for rows of zeros. */
const SMALLEST = 1e-30;

/**
 * Computes products with the model's own matrices in int8, summed in int32 (DynamicQuantizeMatMul): weights have a
 * scale per output, activations one per row (LLM.int8, arXiv 2208.07339, section 2). The adapter, attention, norms
 * and embeddings stay float32.
 */
export const rolloutPrecision: RolloutPrecision = {
  providers: ["cpu"],
  apply: (graph, dir) => {
    const weights = new Map<string, Int8Matrix>();
    const { nodes, initializers } = rewritten(graph, (node, write, names) => {
      const matrix = matrixOf(graph, node);
      if (matrix === undefined) return [node];
      const key = `${matrix.value.name} ${matrix.transposed}`;
      const { codes, scales } = weights.get(key) ?? quantized(matrix, dir, names);
      weights.set(key, { codes, scales });
      const [x, , bias] = node.inputs;
      const inputs = [x, codes.value, scales.value, ...(bias === undefined ? [] : [bias])];
      return write({ ...node, inputs }, node.outputs[0] as Value, product);
    });
    if (weights.size === 0)
      misuse("runtime.rollout_precision=int8 changes nothing here: no matrix of the model is kept in 16 or 32 bits.", {
        hint: "Set runtime.rollout_precision=float32: a model in 4 bits, or one that is trained whole, is generated with as it is.",
      });
    const used = new Set(nodes.flatMap(({ inputs }) => inputs.map((input) => input?.name)));
    for (const { name } of graph.outputs) used.add(name);
    const codes = [...weights.values()].flatMap(({ codes, scales }) => [codes, scales]);
    const constants = [...initializers, ...codes.map((made) => [made.value.name, made] as const)];
    return { ...graph, nodes, initializers: new Map(constants.filter(([name]) => used.has(name))) };
  },
};

/** A matrix [K, N] in int8, with scales [N]. */
interface Int8Matrix {
  readonly codes: Initializer;
  readonly scales: Initializer;
}

/** A matrix in the model's file: W [K, N] of a product x W, or its transpose [N, K]. */
interface StoredWeight {
  readonly value: Value;
  readonly data: ExternalData;
  readonly transposed: boolean;
}

/** Finds the matrix of a product x W (+ bias [N]) with a stored matrix; undefined for any other node. */
function matrixOf(graph: Graph, { op, inputs, attributes }: Node): StoredWeight | undefined {
  const { transA = 0, transB = 0, alpha = 1, beta = 1 } = attributes;
  const isPlain = transA === 0 && alpha === 1 && beta === 1 && (inputs[2]?.shape.length ?? 1) === 1;
  const weight = graph.initializers.get(inputs[1]?.name ?? "");
  if (!(op === "Gemm" || op === "MatMul") || !isPlain || weight?.value.shape.length !== 2) return undefined;
  const { value, data } = weight;
  return isExternal(data) ? { value, data, transposed: transB === 1 } : undefined;
}

/** Quantises the matrix to codes [K, N]: column n is round(w / scale), scale = max |w| / 127. */
function quantized({ value, data, transposed }: StoredWeight, dir: string, names: Names): Int8Matrix {
  const [first, second] = value.shape as readonly [number, number];
  const [k, n] = transposed ? [second, first] : [first, second];
  const weights = openStored(dir, data, value.dtype, [first, second]).read(0, k * n);
  const at = (row: number, column: number): number =>
    weights[transposed ? column * k + row : row * n + column] as number;
  const codes = new Int8Array(k * n);
  const scales = new Float32Array(n);
  for (let column = 0; column < n; column++) {
    let largest = 0;
    for (let row = 0; row < k; row++) largest = Math.max(largest, Math.abs(at(row, column)));
    const scale = Math.fround(largest / LARGEST);
    scales[column] = scale;
    // a column of zeros: any scale works
    for (let row = 0; row < k && scale > 0; row++) codes[row * n + column] = Math.round(at(row, column) / scale);
  }
  const name = (part: string): string => names.fresh(`${value.name}/${transposed ? "transposed/" : ""}${part}`);
  return {
    codes: { value: { name: name("int8"), dtype: "int8", shape: [k, n] }, data: codes },
    scales: { value: { name: name("scale"), dtype: "float32", shape: [n] }, data: scales },
  };
}

/** x W + bias for x [.., K], each row in units of its largest value, so that outliers do not affect other rows. */
const product: Formula = (e, x, codes, scales, bias) => {
  const unit = e.max(e.maxOver(e.g.op("Abs", [x]), [-1]), SMALLEST);
  const y = e.mul(e.g.op("DynamicQuantizeMatMul", [e.div(x, unit), codes as Value, scales as Value]), unit);
  return bias === undefined ? y : e.add(y, bias);
};
