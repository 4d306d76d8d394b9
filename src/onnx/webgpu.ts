import { DTYPE_CODE } from "./infer.js";
import { axisOf } from "./shapes.js";
import type { Graph, Initializer, Node, TypedArray, Value } from "./types.js";

/**
 * The same graph in ops that ONNX Runtime's WebGPU provider computes right.
 *
 * SimplifiedLayerNormalization (RMSNorm) has two outputs, y and the inverse root mean square that a backward pass reads.
 * The WebGPU kernel is LayerNormalization's: it writes the mean of x into the second (1.30.0, and main since). Here that
 * value is computed from x by itself, and the second output dropped.
 */
export function forWebGpu(graph: Graph): Graph {
  const used = new Set([...graph.outputs, ...graph.nodes.flatMap((n) => n.inputs)].map((v) => v?.name));
  const initializers = new Map(graph.initializers);
  const nodes = graph.nodes.flatMap((node): readonly Node[] => {
    const [y, inverse] = node.outputs;
    if (node.op !== "SimplifiedLayerNormalization" || y === undefined || inverse === undefined) return [node];
    const alone = { ...node, outputs: [y] };
    return used.has(inverse.name) ? [alone, ...inverseRootMeanSquare(node, inverse, initializers)] : [alone];
  });
  return { ...graph, nodes, initializers };
}

/** inverse = 1 / sqrt(mean(x^2) + epsilon) over the axes of the normalisation, of x [.., n] as [.., 1]. */
function inverseRootMeanSquare(node: Node, inverse: Value, initializers: Map<string, Initializer>): Node[] {
  const path = `${node.name}/inverse`;
  const nodes: Node[] = [];
  const emit = (op: string, inputs: readonly Value[], output: Value, attributes: Node["attributes"] = {}): Value => {
    nodes.push({ name: `${path}/${op}`, op, domain: "", inputs, outputs: [output], attributes });
    return output;
  };
  const named = (name: string, like: Value): Value => ({
    name: `${path}/${name}`,
    dtype: inverse.dtype,
    shape: like.shape,
  });
  const constant = (name: string, value: Omit<Value, "name">, data: TypedArray): Value => {
    const made = { name: `${path}/${name}`, ...value };
    initializers.set(made.name, { value: made, data });
    return made;
  };
  const given = node.inputs[0] as Value;
  const { axis = -1, epsilon = 1e-5 } = node.attributes;
  const rank = given.shape.length;
  const first = axisOf(Number(axis), rank);
  const axes = BigInt64Array.from({ length: rank - first }, (_, i) => BigInt(first + i));
  // statistics are float32 also where x has 16 bits
  const x =
    given.dtype === inverse.dtype ? given : emit("Cast", [given], named("x", given), { to: DTYPE_CODE[inverse.dtype] });
  const square = emit("Mul", [x, x], named("square", given));
  const over = constant("axes", { dtype: "int64", shape: [axes.length] }, axes);
  const mean = emit("ReduceMean", [square, over], named("mean", inverse), { keepdims: 1 });
  const small = constant("epsilon", { dtype: "float32", shape: [] }, Float32Array.of(Number(epsilon)));
  const root = emit("Sqrt", [emit("Add", [mean, small], named("shifted", inverse))], named("root", inverse));
  emit("Reciprocal", [root], inverse);
  return nodes;
}
