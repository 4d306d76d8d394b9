import { isLora } from "../../nn/lora.js";
import { rewritten } from "../../onnx/passes/written-out.js";
import { sameShape } from "../../onnx/shapes.js";
import type { Graph, Node, Value } from "../../onnx/types.js";

/** The nodes that read each value, by its name. */
export function readersOf({ nodes }: Graph): ReadonlyMap<string, readonly Node[]> {
  const readers = new Map<string, Node[]>();
  for (const node of nodes)
    for (const v of node.inputs) {
      if (v === undefined) continue;
      const known = readers.get(v.name);
      if (known === undefined) readers.set(v.name, [node]);
      else known.push(node);
    }
  return readers;
}

/**
 * Adds and normalises in one kernel (SkipSimplifiedLayerNormalization) where a sum x + y is normalised by its root mean
 * square. Its kernel gives no statistic, which a gradient reads: those stay apart.
 */
export function withSkipNorms(graph: Graph): Graph {
  const readers = readersOf(graph);
  const fused = new Set<Node>();
  const nodes = graph.nodes.flatMap((node): Node[] => {
    if (fused.has(node)) return [];
    const [sum] = node.outputs;
    const [x, y] = node.inputs;
    if (node.op !== "Add" || sum?.dtype !== "float32" || x === undefined || y === undefined) return [node];
    if (!sameShape(x.shape, sum.shape) || !sameShape(y.shape, sum.shape)) return [node];
    const norm = readers.get(sum.name)?.find(({ op }) => op === "SimplifiedLayerNormalization");
    const [normalised, ...statistics] = norm?.outputs ?? [];
    const weight = norm?.inputs[1];
    if (norm === undefined || normalised === undefined || !graph.initializers.has(weight?.name ?? "")) return [node];
    if (statistics.some(({ name }) => readers.has(name)) || !isLastAxis(norm, sum)) return [node];
    fused.add(norm);
    const none = (i: number): Value => ({ name: "", dtype: "float32", shape: [i] });
    return [
      {
        name: norm.name,
        op: "SkipSimplifiedLayerNormalization",
        domain: "com.microsoft",
        inputs: [x, y, weight],
        outputs: [normalised, none(0), none(1), sum],
        attributes: { epsilon: norm.attributes.epsilon ?? 1e-5 },
      },
    ];
  });
  return { ...graph, nodes };
}

const isLastAxis = ({ attributes: { axis = -1 } }: Node, { shape }: Value): boolean =>
  Number(axis) === -1 || Number(axis) === shape.length - 1;

/**
 * Multiplies x A^T of several adapters, computed in one product, with each B without a Split: B gets columns of zeros
 * for the others. A gradient reads the parts, which then stay apart.
 */
export function withoutLoraSplits(graph: Graph): Graph {
  const readers = readersOf(graph);
  const parameters = new Set(graph.inputs.map(({ name }) => name));
  const isProduct = ({ op, inputs, attributes }: Node, part: Value): boolean =>
    op === "Gemm" &&
    inputs[0]?.name === part.name &&
    Number(attributes.transA ?? 0) === 0 &&
    Number(attributes.transB ?? 0) === 1 &&
    parameters.has(inputs[1]?.name ?? "") &&
    isLora(inputs[1]?.name ?? "", "B");
  /** The whole of a part, and the columns before and after it. */
  const parts = new Map<string, { readonly whole: Value; readonly before: number; readonly after: number }>();
  for (const { op, inputs, outputs, attributes } of graph.nodes) {
    const [whole] = inputs;
    if (op !== "Split" || whole === undefined || Number(attributes.axis ?? 0) !== 1) continue;
    if (!outputs.every((part) => readers.get(part.name)?.every((node) => isProduct(node, part)) ?? true)) continue;
    const widths = outputs.map(({ shape }) => shape[1] as number);
    const total = widths.reduce((a, b) => a + b, 0);
    let before = 0;
    outputs.forEach(({ name }, i) => {
      const own = widths[i] as number;
      parts.set(name, { whole, before, after: total - before - own });
      before += own;
    });
  }
  return rewritten(graph, (node, write, names) => {
    const part = node.op === "Gemm" ? parts.get(node.inputs[0]?.name ?? "") : undefined;
    const [, b, ...c] = node.inputs;
    if (part === undefined || b === undefined) return [node];
    const { whole, before, after } = part;
    const [rows, rank] = b.shape as [number, number];
    const padded: Value = { ...b, name: names.fresh(`${node.name}/B`), shape: [rows, before + rank + after] };
    const laid = write({ ...node, name: `${node.name}/padded`, inputs: [b] }, padded, (e, v) =>
      e.g.op("Pad", [v, e.g.ints([0, before, 0, after]), e.g.scalar(0)]),
    );
    return [...laid, { ...node, inputs: [whole, padded, ...c] }];
  });
}
