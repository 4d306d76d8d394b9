import type { Emitter } from "../onnx/emit.js";
import { Names } from "../onnx/names.js";
import { writtenOut } from "../onnx/passes/written-out.js";
import { f32, type NamedTensors } from "../onnx/tensors.js";
import type { Dim, Graph, Node, Tensor, Value } from "../onnx/types.js";

/**
 * The additive bias of a blocked pair. Finite, because -Infinity gives NaN in a row with nothing visible, and in a
 * fused kernel's gradient (0 * -Infinity); large enough that exp() of it is exactly 0 in float32.
 */
export const BLOCKED = -1e9;

/**
 * Names of the bias [A, 1, Q, W] and of the ranges [A, Q, 4] that it is made of (rows.ts). A graph on the CPU gets the
 * bias; a graph on a device gets the ranges, which are small to copy, and expands them there.
 */
const [BIAS, RANGES] = ["attention_bias", "attention_ranges"];

/** Returns the shape of the bias of a layout; undefined where it has no ranges. */
export function biasShape({ [RANGES]: ranges, keys }: NamedTensors): number[] | undefined {
  if (ranges === undefined) return undefined;
  const [rows, queries] = ranges.shape as [number, number];
  return [rows, 1, queries, keys?.shape[1] ?? queries];
}

/** Makes the bias of ranges [A, Q, 4]: 0 for the W keys that a query sees, and {@link BLOCKED}. */
export function biasOf({ data }: Tensor, shape: readonly number[]): Tensor {
  const [rows, , queries, width] = shape as [number, number, number, number];
  const bias = new Float32Array(rows * queries * width).fill(BLOCKED);
  for (let query = 0; query < rows * queries; query++)
    for (const range of [4 * query, 4 * query + 2])
      bias.fill(0, query * width + Number(data[range]), query * width + Number(data[range + 1]));
  return f32(shape, bias);
}

/** Selects the tensors of a layout that are inputs of a graph: not every model reads a step size. */
export function selectFeeds(names: ReadonlySet<string>, laidOut: NamedTensors): NamedTensors {
  const shape = names.has(BIAS) ? biasShape(laidOut) : undefined;
  const all = shape === undefined ? laidOut : { ...laidOut, [BIAS]: biasOf(laidOut[RANGES] as Tensor, shape) };
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
}

/** Returns the graph with the input `attention_ranges` instead of `attention_bias`, where it has one. */
export function withRanges(graph: Graph): Graph {
  const bias = graph.inputs.find(({ name }) => name === BIAS);
  if (bias === undefined || !graph.nodes.some((node) => node.inputs.some((v) => v?.name === BIAS))) return graph;
  const [batch, , length, width] = bias.shape as [Dim, Dim, Dim, Dim];
  const ranges: Value = { name: RANGES, dtype: "float32", shape: [batch, length, 4] };
  const keys = graph.inputs.find(({ name }) => name === "keys");
  const inputs = typeof width === "number" || keys === undefined ? [ranges] : [ranges, keys];
  const names = Names.of(graph);
  const node: Node = { name: names.fresh(`/${BIAS}`), op: "", domain: "", inputs, outputs: [bias], attributes: {} };
  const part = writtenOut(node, bias, names, (e, given, index) => {
    const key = index === undefined ? keyNumbers(e, width as number) : openKeyNumbers(e, index);
    const bounds = e.split(e.unsqueeze(given, [1]), [1, 1, 1, 1], 3);
    const within = (from: number): Value =>
      e.g.op("And", [e.greaterOrEqual(key, bounds[from] as Value), e.less(key, bounds[from + 1] as Value)]);
    return e.where(e.g.op("Or", [within(0), within(2)]), e.g.scalar(0), e.g.scalar(BLOCKED));
  });
  return {
    ...graph,
    inputs: graph.inputs.map((input) => (input === bias ? ranges : input)),
    nodes: [...part.nodes, ...graph.nodes],
    initializers: new Map([...graph.initializers, ...part.initializers]),
  };
}

/** Returns the key numbers 0, 1, ... W - 1 as [1, 1, 1, W]. */
function keyNumbers(e: Emitter, width: number): Value {
  return e.g.constant(
    "float32",
    [1, 1, 1, width],
    Array.from({ length: width }, (_, i) => i),
  );
}

/** Returns the key numbers for an open W from an index [A, W], by a cumulative sum: a Range reads W on the host. */
function openKeyNumbers(e: Emitter, index: Value): Value {
  const ones = e.g.op("Expand", [e.g.scalar(1), e.g.op("Shape", [index])]);
  return e.unsqueeze(e.g.op("CumSum", [ones, e.g.scalar(1, "int64")], { exclusive: 1 }), [1, 2]);
}
