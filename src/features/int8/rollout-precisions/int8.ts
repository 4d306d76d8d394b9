import type { RolloutPrecision } from "../../../engine/rollout-precision.js";
import { type Formula, writtenOut } from "../../../onnx/passes/written-out.js";
import {
  type ExternalData,
  type Graph,
  type Initializer,
  isExternal,
  type Node,
  type Value,
} from "../../../onnx/types.js";
import { openStored } from "../../../weights/model-weights.js";

/** Largest absolute code: -128 stays unused, so that a column and its negative have the same scale. */
const LARGEST = 127;
/** A row of zeros is divided by this. */
const SMALLEST = 1e-30;

/**
 * Products with the model's own matrices in int8, summed in int32 (DynamicQuantizeMatMul): weights with a scale an
 * output, activations with a scale a row (LLM.int8, arXiv 2208.07339, section 2). What an adapter adds, attention, norms
 * and embeddings stay float32.
 */
export const rolloutPrecision: RolloutPrecision = {
  providers: ["cpu"],
  apply: (graph, dir) => {
    const weights = new Map<string, Int8Matrix>();
    const constants = new Map(graph.initializers);
    const nodes = graph.nodes.flatMap((node): readonly Node[] => {
      const matrix = matrixOf(graph, node);
      if (matrix === undefined) return [node];
      const { codes, scales } = weights.get(matrix.value.name) ?? quantized(matrix, dir);
      weights.set(matrix.value.name, { codes, scales });
      for (const made of [codes, scales]) constants.set(made.value.name, made);
      const [x, , bias] = node.inputs;
      const inputs = [x, codes.value, scales.value, ...(bias === undefined ? [] : [bias])];
      const part = writtenOut({ ...node, inputs }, node.outputs[0] as Value, product);
      for (const [name, made] of part.initializers) constants.set(name, made);
      return part.nodes;
    });
    const used = new Set(nodes.flatMap(({ inputs }) => inputs.map((input) => input?.name)));
    for (const { name } of graph.outputs) used.add(name);
    return { ...graph, nodes, initializers: new Map([...constants].filter(([name]) => used.has(name))) };
  },
};

/** A matrix [K, N] in int8, with scales [N]. */
interface Int8Matrix {
  readonly codes: Initializer;
  readonly scales: Initializer;
}

interface StoredWeight {
  readonly value: Value;
  readonly data: ExternalData;
}

/** The matrix [N, K] of a product x W^T (+ bias [N]); undefined where the node is no such product of a stored matrix. */
function matrixOf(graph: Graph, { op, inputs, attributes }: Node): StoredWeight | undefined {
  const { transA = 0, transB = 0, alpha = 1, beta = 1 } = attributes;
  const weight = graph.initializers.get(inputs[1]?.name ?? "");
  const isPlain = op === "Gemm" && transA === 0 && transB === 1 && alpha === 1 && beta === 1;
  if (!isPlain || weight === undefined || !isExternal(weight.data) || (inputs[2]?.shape.length ?? 1) !== 1)
    return undefined;
  return { value: weight.value, data: weight.data };
}

/** The matrix [N, K] as [K, N]: row n is round(w / scale), scale = max |w| / 127. */
function quantized({ value, data }: StoredWeight, dir: string): Int8Matrix {
  const [n, k] = value.shape as readonly [number, number];
  const stored = openStored(dir, data, value.dtype, [n, k]);
  const codes = new Int8Array(n * k);
  const scales = new Float32Array(n);
  for (let row = 0; row < n; row++) {
    const weights = stored.read(row * k, (row + 1) * k);
    let largest = 0;
    for (const w of weights) largest = Math.max(largest, Math.abs(w));
    const scale = Math.fround(largest / LARGEST);
    scales[row] = scale;
    // a row of zeros: any scale will do
    for (let i = 0; i < k && scale > 0; i++) codes[i * n + row] = Math.round((weights[i] as number) / scale);
  }
  return {
    codes: { value: { name: `${value.name}/int8`, dtype: "int8", shape: [k, n] }, data: codes },
    scales: { value: { name: `${value.name}/scale`, dtype: "float32", shape: [n] }, data: scales },
  };
}

/** x W^T + bias of x [M, K], a row at a time in units of its largest value: a row with outliers takes nothing of others. */
const product: Formula = (e, x, codes, scales, bias) => {
  const unit = e.max(e.maxOver(e.g.op("Abs", [x]), [-1]), SMALLEST);
  const y = e.mul(e.g.op("DynamicQuantizeMatMul", [e.div(x, unit), codes as Value, scales as Value]), unit);
  return bias === undefined ? y : e.add(y, bias);
};
