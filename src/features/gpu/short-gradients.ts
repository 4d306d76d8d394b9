import { rewritten } from "../../onnx/passes/written-out.js";
import { isStatic, sameShape, sizeOf } from "../../onnx/shapes.js";
import type { Graph, Node, Value } from "../../onnx/types.js";
import { readersOf } from "./fused-forward.js";

/** Computes gradients of the rules (src/autodiff) in fewer passes over memory. What they no longer need is left over. */
export function shortGradients(graph: Graph): Graph {
  const producers = new Map(graph.nodes.flatMap((node) => node.outputs.map((v) => [v.name, node] as const)));
  const readers = readersOf(graph);
  const made = (op: string, v: Value | undefined): Node | undefined => {
    const node = producers.get(v?.name ?? "");
    return node?.op === op ? node : undefined;
  };
  const only = (node: Node | undefined): Node | undefined =>
    readers.get(node?.outputs[0]?.name ?? "")?.length === 1 ? node : undefined;

  /** Inputs [s, x] of the derivative s + (y - y s) of y = x s with s = sigmoid(x). */
  const ofSilu = ([rest, s]: Node["inputs"]): [Value, Value] | undefined => {
    const [x] = made("Sigmoid", s)?.inputs ?? [];
    const [y, less] = made("Sub", rest)?.inputs ?? [];
    const factors = made("Mul", less)?.inputs.map((v) => v?.name) ?? [];
    if (x === undefined || s === undefined || y === undefined) return undefined;
    const isSilu = Number(made("QuickGelu", y)?.attributes.alpha) === 1;
    return isSilu && factors.join() === [y.name, s.name].join() ? [s, x] : undefined;
  };

  /** Inputs [g, a, x, c] of a sum g + (a - x c) with c [.., 1], as the gradient of a norm adds to that of its input. */
  const ofNorm = ([g, difference]: Node["inputs"], sum: Value): [Value, ...Value[]] | undefined => {
    const [a, product] = only(made("Sub", difference))?.inputs ?? [];
    const [x, c] = only(made("Mul", product))?.inputs ?? [];
    if (g === undefined || a === undefined || x === undefined || c === undefined || c.shape.at(-1) !== 1)
      return undefined;
    return [g, a, x].every(({ shape }) => sameShape(shape, sum.shape)) ? [g, a, x, c] : undefined;
  };

  return rewritten(graph, (node, write) => {
    const [sum] = node.outputs;
    if (node.op !== "Add" || sum === undefined) return [node];
    const silu = ofSilu(node.inputs);
    // s (1 + x sigmoid(-x))
    if (silu !== undefined)
      return write({ ...node, inputs: silu }, sum, (e, s, x) =>
        e.mul(s, e.add(e.g.op("QuickGelu", [x as Value], { alpha: -1 }), 1)),
      );
    const norm = ofNorm(node.inputs, sum);
    if (norm === undefined) return [node];
    return write({ ...node, inputs: norm }, sum, (e, g, a, x, c) =>
      e.g.op("Sum", [g, a as Value, e.mul(x as Value, e.neg(c as Value))]),
    );
  });
}

/** Most elements of a value that is kept instead of being computed again, such as the angles of all layers. */
const SMALL = 2 ** 18;

/** Computes small values once that several nodes compute from the same inputs: CUDA's sessions merge nothing. */
export function withoutRepeats(graph: Graph): Graph {
  const outputs = new Set(graph.outputs.map(({ name }) => name));
  const instead = new Map<string, Value>();
  const known = new Map<string, Value>();
  const nodes = graph.nodes.flatMap((node): Node[] => {
    const inputs = node.inputs.map((v) => v && (instead.get(v.name) ?? v));
    const [output] = node.outputs;
    const isSmall = output !== undefined && isStatic(output.shape) && sizeOf(output.shape) <= SMALL;
    const numbers = Object.values(node.attributes).every((value) => typeof value === "number");
    if (!isSmall || !numbers || node.outputs.length > 1 || outputs.has(output.name)) return [{ ...node, inputs }];
    const key = JSON.stringify([node.op, node.domain, node.attributes, inputs.map((v) => v?.name ?? "")]);
    const same = known.get(key);
    if (same === undefined) {
      known.set(key, output);
      return [{ ...node, inputs }];
    }
    instead.set(output.name, same);
    return [];
  });
  return { ...graph, nodes };
}
