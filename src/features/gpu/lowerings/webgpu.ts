import { type Formula, rewritten } from "../../../onnx/passes/written-out.js";
import type { Lowering } from "../../../onnx/session.js";
import { axisOf } from "../../../onnx/shapes.js";
import type { Graph, Node, Value } from "../../../onnx/types.js";

export const lowering: Lowering = (graph) => forWebGpu(graph);

/**
 * Rewrites a graph to ops that ONNX Runtime's WebGPU provider has and computes correctly (1.30.0, and main since).
 *
 * SimplifiedLayerNormalization (RMSNorm) has two outputs: y, and the inverse root mean square for the backward pass.
 * The WebGPU kernel, that of LayerNormalization, writes the mean of x into the second. Here that one is computed from x
 * separately, and the second output is dropped.
 *
 * LogSoftmax and Sum have no WebGPU kernel: logits and the squared norms of gradients would be copied to the host.
 */
export function forWebGpu(graph: Graph): Graph {
  const used = new Set([...graph.outputs, ...graph.nodes.flatMap((n) => n.inputs)].map((v) => v?.name));
  return rewritten(graph, (node, write) => {
    const [first, second] = node.outputs;
    if (node.op === "LogSoftmax") return write(node, first as Value, logSoftmax(node));
    if (node.op === "Sum" && node.inputs.length > 1) return write(node, first as Value, sum);
    if (node.op !== "SimplifiedLayerNormalization" || second === undefined) return [node];
    const alone = { ...node, outputs: [first as Value] };
    return used.has(second.name) ? [alone, ...write(node, second, inverseRootMeanSquare(node, second))] : [alone];
  });
}

const sum: Formula = (e, ...inputs) => inputs.reduce((a, b) => e.add(a, b));

/** x - max(x) - log(sum(exp(x - max(x)))) over one axis. */
const logSoftmax =
  ({ attributes: { axis = -1 } }: Node): Formula =>
  (e, x) => {
    const over = [axisOf(Number(axis), x.shape.length)];
    const shifted = e.sub(x, e.maxOver(x, over));
    return e.sub(shifted, e.log(e.sum(e.exp(shifted), over)));
  };

/** 1 / sqrt(mean(x^2) + epsilon) over the axes of the normalisation, of x [.., n] as [.., 1]. */
const inverseRootMeanSquare =
  ({ attributes: { axis = -1, epsilon = 1e-5 } }: Node, { dtype }: Value): Formula =>
  (e, given) => {
    // statistics are float32 even if x has 16 bits
    const x = e.cast(given, dtype);
    const rank = x.shape.length;
    const first = axisOf(Number(axis), rank);
    const axes = Array.from({ length: rank - first }, (_, i) => first + i);
    return e.g.op("Reciprocal", [e.sqrt(e.add(e.mean(e.mul(x, x), axes), Number(epsilon)))]);
  };
