import { NF4_BLOCK, NF4_CODE } from "../../src/onnx/nf4.js";
import {
  type Attribute,
  DTYPE_CODE,
  type Graph,
  type Initializer,
  type Node,
  type TypedArray,
  type Value,
} from "../../src/onnx/types.js";

/**
 * Rewrites a CUDA graph so that the CPU can run it, with equal results up to the order of sums: gradients of 4-bit
 * products use the decoded matrix, and nodes on 16-bit tensors compute in float32 between roundings to 16 bits.
 */
export function cudaOnCpu(graph: Graph): Graph {
  const initializers = new Map(graph.initializers);
  const nodes: Node[] = [];
  let made = 0;
  const emit = (
    op: string,
    inputs: readonly Value[],
    output: Value,
    attributes: Record<string, Attribute> = {},
  ): Value => {
    nodes.push({ name: `/cpu/${made++}`, op, domain: "", inputs, outputs: [output], attributes });
    return output;
  };
  const value = (dtype: Value["dtype"], shape: readonly number[]): Value => ({ name: `cpu${made++}`, dtype, shape });
  const constant = (dtype: Value["dtype"], shape: readonly number[], data: TypedArray): Value => {
    const v = value(dtype, shape);
    initializers.set(v.name, { value: v, data } satisfies Initializer);
    return v;
  };
  const ints = (...shape: number[]): Value => constant("int64", [shape.length], BigInt64Array.from(shape, BigInt));
  const single = (v: Value): Value =>
    v.dtype === "bfloat16" || v.dtype === "float16"
      ? emit("Cast", [v], { ...value("float32", v.shape as number[]) }, { to: DTYPE_CODE.float32 })
      : v;
  const table = Float32Array.from({ length: 512 }, (_, i) => NF4_CODE[i % 2 === 0 ? i >> 5 : (i >> 1) & 15] as number);

  for (const node of graph.nodes) {
    const halves = node.op !== "Cast" && node.outputs.some((v) => v.dtype === "bfloat16" || v.dtype === "float16");
    const inputs = halves ? node.inputs.map((v) => v && single(v)) : node.inputs;
    const outputs = halves
      ? node.outputs.map((v) => (v.dtype === "int64" ? v : value("float32", v.shape as number[])))
      : node.outputs;
    if (node.op === "MatMulBnb4" && Number(node.attributes.transB) === 0) {
      const [n, k] = [Number(node.attributes.N), Number(node.attributes.K)];
      const [dy, codes, scales] = inputs as [Value, Value, Value];
      const blocks = (n * k) / NF4_BLOCK;
      const bytes = emit("Cast", [codes], value("int32", codes.shape as number[]), { to: DTYPE_CODE.int32 });
      const pairs = constant("float32", [256, 2], table);
      const units = emit("Gather", [pairs, bytes], value("float32", [codes.shape[0] as number, 2]));
      const rows = emit("Reshape", [units, ints(blocks, NF4_BLOCK)], value("float32", [blocks, NF4_BLOCK]));
      const column = emit("Reshape", [scales, ints(blocks, 1)], value("float32", [blocks, 1]));
      const scaled = emit("Mul", [rows, column], value("float32", [blocks, NF4_BLOCK]));
      const matrix = emit("Reshape", [scaled, ints(n, k)], value("float32", [n, k]));
      emit("MatMul", [dy, matrix], outputs[0] as Value);
    } else nodes.push({ ...node, inputs, outputs });
    if (!halves) continue;
    node.outputs.forEach((v, i) => {
      if (outputs[i] !== v) emit("Cast", [outputs[i] as Value], v, { to: DTYPE_CODE[v.dtype] });
    });
  }
  return { ...graph, nodes, initializers };
}
