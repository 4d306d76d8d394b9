import { BLOCKED } from "../diffusion/layout/buffer.js";
import type { Emitter } from "../onnx/emit.js";
import { Names } from "../onnx/names.js";
import { writtenOut } from "../onnx/passes/written-out.js";
import { f32, type NamedTensors } from "../onnx/tensors.js";
import type { Graph, Node, Tensor, Value } from "../onnx/types.js";

/**
 * Names of the attention bias and of its ranges [B, N, 4]. A token sees the keys [r0, r1) and [r2, r3). A graph on a
 * device gets the ranges, which are small to copy, and expands them to the bias [B, 1, N, W] there.
 */
const [BIAS, RANGES] = ["attention_bias", "attention_ranges"];

/** Returns the graph with the input `attention_ranges` instead of `attention_bias`, where it has one. */
export function withRanges(graph: Graph): Graph {
  const bias = graph.inputs.find(({ name }) => name === BIAS);
  if (bias === undefined || !graph.nodes.some((node) => node.inputs.some((v) => v?.name === BIAS))) return graph;
  const [batch, , length, width] = bias.shape as [Value["shape"][0], ...Value["shape"]];
  const ranges: Value = { name: RANGES, dtype: "float32", shape: [batch as number, length as number, 4] };
  const keys = graph.inputs.find(({ name }) => name === "keys");
  const inputs = typeof width === "number" || keys === undefined ? [ranges] : [ranges, keys];
  const names = Names.of(graph);
  const node: Node = { name: names.fresh(`/${BIAS}`), op: "", domain: "", inputs, outputs: [bias], attributes: {} };
  const part = writtenOut(node, bias, names, (e, given, index) => {
    const place = index === undefined ? places(e, width as number) : openPlaces(e, index);
    const bounds = e.split(e.unsqueeze(given, [1]), [1, 1, 1, 1], 3);
    const within = (from: number): Value =>
      e.g.op("And", [e.greaterOrEqual(place, bounds[from] as Value), e.less(place, bounds[from + 1] as Value)]);
    return e.where(e.g.op("Or", [within(0), within(2)]), e.g.scalar(0), e.g.scalar(BLOCKED));
  });
  return {
    ...graph,
    inputs: graph.inputs.map((input) => (input === bias ? ranges : input)),
    nodes: [...part.nodes, ...graph.nodes],
    initializers: new Map([...graph.initializers, ...part.initializers]),
  };
}

/** Returns the key indices 0, 1, ... W - 1 as [1, 1, 1, W]. */
function places(e: Emitter, width: number): Value {
  const all = Array.from({ length: width }, (_, i) => i);
  return e.g.constant("float32", [1, 1, 1, width], all);
}

/** Returns the key indices for an open W from an index [B, W], by a cumulative sum: a Range needs W on the host. */
function openPlaces(e: Emitter, index: Value): Value {
  const ones = e.g.op("Expand", [e.g.scalar(1), e.g.op("Shape", [index])]);
  return e.unsqueeze(e.g.op("CumSum", [ones, e.g.scalar(1, "int64")], { exclusive: 1 }), [1, 2]);
}

/** Selects the tensors of a layout that are inputs of a graph: not every model reads a step size. */
export function selectFeeds(names: ReadonlySet<string>, given: NamedTensors): NamedTensors {
  const bias = given[BIAS];
  const all = bias === undefined || !names.has(RANGES) ? given : { ...given, [RANGES]: rangesOf(bias) };
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
}

/** Returns the ranges [B, N, 4] of a 0/blocked bias [B, 1, N, W]. @throws Error where a row has more than two. */
export function rangesOf({ shape, data }: Tensor): Tensor {
  const [batch, , length, width] = shape as [number, number, number, number];
  const ranges = new Float32Array(batch * length * 4);
  for (let row = 0; row < batch * length; row++) {
    let n = 0;
    for (let w = 0; w < width; w++) {
      const bias = Number(data[row * width + w]);
      if (bias !== 0 && bias !== Math.fround(BLOCKED)) throw new Error(`an attention bias of ${bias}`);
      const shown = bias === 0;
      // an odd number of bounds: inside a range
      if (shown !== (n % 2 === 1)) {
        if (n === 4) throw new Error("a token sees more than two ranges of keys");
        ranges[row * 4 + n++] = w;
      }
    }
    if (n % 2 === 1) ranges[row * 4 + n] = width;
  }
  return f32([batch, length, 4], ranges);
}
