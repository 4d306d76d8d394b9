import { sizeAt } from "./shapes.js";
import { BYTES, type Graph, type Node, type Value } from "./types.js";

/** Ops whose output shares its input's memory under another shape. */
const VIEWS: ReadonlySet<string> = new Set(["Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"]);

/** Ops that read each element once, where it is written: they may overwrite an input that is not used again. */
const IN_PLACE: ReadonlySet<string> = new Set([
  ...["Add", "Sub", "Mul", "Div", "Neg", "Abs", "Exp", "Log", "Sqrt", "Reciprocal", "Sin", "Cos", "Tanh", "Sigmoid"],
  ...["Softmax", "LogSoftmax", "Clip", "Relu", "Erf", "Gelu"],
]);

/**
 * Estimates the peak memory of a graph's activations, in bytes: its nodes in order, every value freed after its last
 * use, views for free. Graph inputs and values that follow from constants alone are left out (a session folds the
 * latter).
 * @param sizes of the symbolic dimensions; a missing one counts once.
 */
export function peakActivationBytes(graph: Graph, sizes: Readonly<Record<string, number>> = {}): number {
  const bytesOf = ({ shape, dtype }: Value): number => BYTES[dtype] * sizeAt(shape, sizes);
  const fed = new Set(graph.inputs.map((v) => v.name));
  /** Owner of the memory of each computed value, by name. */
  const owner = new Map<string, string>();
  const computed: Node[] = [];
  const last = new Map<string, number>();
  for (const node of graph.nodes) {
    const varies = node.inputs.some((v) => v !== undefined && (fed.has(v.name) || owner.has(v.name)));
    if (!varies) continue;
    const source = node.inputs[0]?.name ?? "";
    for (const output of node.outputs) {
      if (!VIEWS.has(node.op)) owner.set(output.name, output.name);
      else owner.set(output.name, owner.get(source) ?? source);
    }
    for (const v of [...node.inputs, ...node.outputs])
      if (v !== undefined && owner.has(v.name)) last.set(owner.get(v.name) as string, computed.length);
    computed.push(node);
  }
  for (const output of graph.outputs) last.set(owner.get(output.name) ?? output.name, computed.length);

  const live = new Map<string, number>();
  let now = 0;
  let peak = 0;
  const free = (name: string): void => {
    now -= live.get(name) ?? 0;
    live.delete(name);
  };
  computed.forEach((node, at) => {
    const dying = node.inputs.flatMap((v) => {
      const buffer = v === undefined ? undefined : owner.get(v.name);
      return buffer !== undefined && last.get(buffer) === at ? [buffer] : [];
    });
    if (IN_PLACE.has(node.op)) {
      const size = bytesOf(node.outputs[0] as Value);
      const reused = dying.find((buffer) => live.get(buffer) === size);
      if (reused !== undefined) free(reused);
    }
    for (const output of node.outputs) {
      if (owner.get(output.name) !== output.name) continue;
      live.set(output.name, bytesOf(output));
      now += bytesOf(output);
    }
    peak = Math.max(peak, now);
    for (const buffer of dying) free(buffer);
    // an unused output
    for (const output of node.outputs) if (last.get(output.name) === at) free(output.name);
  });
  return peak;
}
