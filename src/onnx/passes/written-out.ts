import { Emitter } from "../emit.js";
import { GraphBuilder } from "../graph.js";
import type { Initializer, Node, Value } from "../types.js";

/** A value from the inputs of a node. */
export type Formula = (e: Emitter, ...inputs: [Value, ...Value[]]) => Value;

/** Nodes that compute `output` of a node from its inputs; their names begin with the node's own. */
export function writtenOut(
  node: Node,
  output: Value,
  formula: Formula,
): { readonly nodes: readonly Node[]; readonly initializers: ReadonlyMap<string, Initializer> } {
  const g = new GraphBuilder(node.name);
  const result = formula(new Emitter(g), ...(node.inputs as [Value, ...Value[]]));
  // told apart by identity: the graph may have given one of these names to another value
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
