import { type Formula, writtenOut } from "../../onnx/passes/written-out.js";
import type { Graph, Node, Value } from "../../onnx/types.js";

/** Of rows of [old | new] that are looked up, new ones counted from the end: which are old, and their numbers in each. */
interface Places {
  readonly isOld: Value;
  readonly old: Value;
  readonly fresh: Value;
}

/**
 * Keys and values that are looked up in [old | new] (src/nn/past.ts) are looked up in both and chosen from: to join two
 * parts of two lengths CUDA's Concat copies a table with a number for each row to the device, in every layer of every
 * round.
 */
export function withoutJoining(graph: Graph): Graph {
  const initializers = new Map(graph.initializers);
  const write = (
    node: Node,
    part: string,
    inputs: readonly Value[],
    result: Value,
    formula: Formula,
  ): readonly Node[] => {
    const made = writtenOut({ ...node, name: `${node.name}/${part}`, inputs }, result, formula);
    for (const [name, initializer] of made.initializers) initializers.set(name, initializer);
    return made.nodes;
  };
  const joined = new Map<string, readonly Value[]>();
  for (const { op, inputs, outputs, attributes } of graph.nodes)
    if (op === "Concat" && inputs.length === 2 && Number(attributes.axis) === 0 && outputs[0]?.dtype === "float32")
      joined.set(outputs[0].name, inputs as Value[]);
  const inputs = new Set(graph.inputs.map(({ name }) => name));
  // all layers look up the same rows
  const known = new Map<string, Places>();
  const nodes = graph.nodes.flatMap((node): readonly Node[] => {
    const [all, keys] = node.inputs;
    const [first, second] = joined.get(all?.name ?? "") ?? [];
    const [output] = node.outputs;
    if (node.op !== "Gather" || first === undefined || second === undefined || output === undefined) return [node];
    if (keys === undefined || !inputs.has(keys.name) || Number(node.attributes.axis ?? 0) !== 0) return [node];
    const before: Node[] = [];
    let places = known.get(keys.name);
    if (places === undefined) {
      const value = (name: string, dtype: Value["dtype"]): Value => ({ name, dtype, shape: keys.shape });
      const isOld = value(`${keys.name}/is-old`, "bool");
      const old = value(`${keys.name}/old`, "int64");
      const fresh = value(`${keys.name}/new`, "int64");
      before.push(
        ...write(node, "is-old", [keys], isOld, (e, at) => e.greaterOrEqual(at, 0)),
        ...write(node, "old", [keys, isOld], old, (e, at, is) => e.where(is as Value, at, e.g.scalar(0, "int64"))),
        ...write(node, "new", [keys, isOld], fresh, (e, at, is) => e.where(is as Value, e.g.scalar(-1, "int64"), at)),
      );
      places = { isOld, old, fresh };
      known.set(keys.name, places);
    }
    const { isOld, old, fresh } = places;
    const axes = first.shape.slice(1).map((_, i) => isOld.shape.length + i);
    const rows = write(node, "rows", [first, second, isOld, old, fresh], output, (e, a, ...rest) => {
      const [b, is, atOld, atNew] = rest as [Value, Value, Value, Value];
      return e.where(e.unsqueeze(is, axes), e.gather(a, atOld), e.gather(b, atNew));
    });
    return [...before, ...rows];
  });
  return { ...graph, nodes, initializers };
}
