import { Emitter } from "../emit.js";
import { GraphBuilder } from "../graph.js";
import { Names } from "../names.js";
import type { Graph, Initializer, Node, Value } from "../types.js";

/** Emits a value from the inputs of a node. */
export type Formula = (e: Emitter, ...inputs: [Value, ...Value[]]) => Value;

/**
 * Returns nodes that compute `output` of a node from its inputs; their names begin with the node's own.
 * @param names of the graph.
 */
export function writtenOut(
  node: Node,
  output: Value,
  names: Names,
  formula: Formula,
): { readonly nodes: readonly Node[]; readonly initializers: ReadonlyMap<string, Initializer> } {
  const g = new GraphBuilder(node.name);
  const result = formula(new Emitter(g), ...(node.inputs as [Value, ...Value[]]));
  const freshNames = new Map<string, string>();
  const nameOf = (name: string): string => {
    const fresh = freshNames.get(name) ?? names.fresh(`${node.name}${name}`);
    freshNames.set(name, fresh);
    return fresh;
  };
  // compared by identity: the graph may use one of these names for another value
  const renamed = (value: Value): Value =>
    value === result ? output : node.inputs.includes(value) ? value : { ...value, name: nameOf(value.name) };
  return {
    nodes: g.nodes.map((made) => ({
      ...made,
      name: nameOf(made.name),
      inputs: made.inputs.map((value) => value && renamed(value)),
      outputs: made.outputs.map(renamed),
    })),
    initializers: new Map(
      [...g.initializers].map(([name, { value, data }]) => [nameOf(name), { value: renamed(value), data }]),
    ),
  };
}

/** Expands a formula in a graph, and adds its constants to it. */
type Write = (node: Node, output: Value, formula: Formula) => readonly Node[];

/**
 * Replaces nodes of a graph.
 * @param nodesOf returns a node's replacements.
 */
export function rewritten(graph: Graph, nodesOf: (node: Node, write: Write, names: Names) => readonly Node[]): Graph {
  const initializers = new Map(graph.initializers);
  const names = Names.of(graph);
  const write: Write = (node, output, formula) => {
    const part = writtenOut(node, output, names, formula);
    for (const [name, initializer] of part.initializers) initializers.set(name, initializer);
    return part.nodes;
  };
  return { ...graph, nodes: graph.nodes.flatMap((node) => nodesOf(node, write, names)), initializers };
}
