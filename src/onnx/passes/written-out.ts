import { Emitter } from "../emit.js";
import { GraphBuilder } from "../graph.js";
import type { Graph, Initializer, Node, Value } from "../types.js";

/** Emits a value from the inputs of a node. */
export type Formula = (e: Emitter, ...inputs: [Value, ...Value[]]) => Value;

/** Returns nodes that compute `output` of a node from its inputs; their names begin with the node's own. */
export function writtenOut(
  node: Node,
  output: Value,
  formula: Formula,
): { readonly nodes: readonly Node[]; readonly initializers: ReadonlyMap<string, Initializer> } {
  const g = new GraphBuilder(node.name);
  const result = formula(new Emitter(g), ...(node.inputs as [Value, ...Value[]]));
  // compared by identity: the graph may use one of these names for another value
  const renamed = (value: Value): Value =>
    value === result ? output : node.inputs.includes(value) ? value : { ...value, name: `${node.name}${value.name}` };
  return {
    nodes: g.nodes.map((made) => ({
      ...made,
      name: `${node.name}${made.name}`,
      inputs: made.inputs.map((value) => value && renamed(value)),
      outputs: made.outputs.map(renamed),
    })),
    initializers: new Map(
      [...g.initializers].map(([name, { value, data }]) => [`${node.name}${name}`, { value: renamed(value), data }]),
    ),
  };
}

/**
 * Replaces nodes of a graph.
 * @param nodesOf returns a node's replacements; `write` expands a formula, and adds its constants to the graph.
 */
export function rewritten(
  graph: Graph,
  nodesOf: (node: Node, write: (...of: Parameters<typeof writtenOut>) => readonly Node[]) => readonly Node[],
): Graph {
  const initializers = new Map(graph.initializers);
  const write = (...of: Parameters<typeof writtenOut>): readonly Node[] => {
    const part = writtenOut(...of);
    for (const [name, initializer] of part.initializers) initializers.set(name, initializer);
    return part.nodes;
  };
  return { ...graph, nodes: graph.nodes.flatMap((node) => nodesOf(node, write)), initializers };
}
