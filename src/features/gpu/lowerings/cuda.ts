import { live } from "../../../onnx/graph.js";
import { Names } from "../../../onnx/names.js";
import { bnb4Attributes } from "../../../onnx/nf4.js";
import { type Formula, rewritten } from "../../../onnx/passes/written-out.js";
import type { Lowering } from "../../../onnx/session.js";
import { sameShape } from "../../../onnx/shapes.js";
import { type Graph, type Initializer, isExternal, type Node, type Value } from "../../../onnx/types.js";
import { inBlocks } from "../cuda-blocks.js";
import { withoutLoraSplits, withSkipNorms } from "../fused-forward.js";
import { halfTrunk } from "../half-trunk.js";
import { shortGradients, withoutRepeats } from "../short-gradients.js";

/** Lowers a graph for CUDA; layers are computed in 16 bits if requested. */
export const lowering: Lowering = (graph, precision) => {
  const lowered = forCuda(graph);
  // casts of weights that are now used in 16 bits are left over: ONNX Runtime would compute them in every run
  return withoutRepeats(precision === "float32" ? lowered : live(halfTrunk(lowered, precision)));
};

/**
 * Rewrites a graph for ONNX Runtime's CUDA provider, whose sessions fold no constants and merge no equal expressions
 * (session options of the bindings):
 *
 * - constants no longer wait for other values (delayed.ts): waiting costs a synchronisation, as shapes live on the host;
 *   what is computed again adds a zero that waits instead;
 * - the gradient of a 4-bit product becomes a 4-bit product: the CUDA kernel of MatMulBnb4 supports transB = 0, which
 *   was made for that, and decodes on its way. The CPU kernel ignores it.
 * - a large matrix stored in 16 bits and multiplied in float32, such as the output head, is cast in blocks of
 *   sizes that tensor cores like;
 * - keys and values of earlier rounds are not concatenated with new ones before the lookup;
 * - the gradients of SiLU and of a norm take fewer passes;
 * - without a gradient, sums are normalised in one kernel, and adapters of one input share a product without a split.
 * @param largest most elements of a matrix that is cast in one piece.
 * @param tile a number of which its blocks' rows are a multiple.
 */
export function forCuda(graph: Graph, largest?: number, tile?: number): Graph {
  const plain = packedGradients(withoutJoining(withoutWaits(withoutLate(graph))));
  return live(inBlocks(withSkipNorms(withoutLoraSplits(shortGradients(plain))), largest, tile));
}

/** Removes reshapes of constants with computed targets, or gives them constant targets. */
function withoutLate(graph: Graph): Graph {
  const initializers = new Map(graph.initializers);
  const names = Names.of(graph);
  const instead = new Map<string, Value>();
  const nodes = graph.nodes.flatMap((node): Node[] => {
    const inputs = node.inputs.map((v) => v && (instead.get(v.name) ?? v));
    const [constant, target] = inputs;
    const [output] = node.outputs;
    const waits = node.op === "Reshape" && target !== undefined && !graph.initializers.has(target.name);
    const weight = graph.initializers.get(constant?.name ?? "");
    if (!waits || constant === undefined || output === undefined || weight === undefined || !isExternal(weight.data))
      return [{ ...node, inputs }];
    if (output.shape.join() === constant.shape.join()) {
      instead.set(output.name, constant);
      return [];
    }
    const shape: Value = { name: names.fresh(`${node.name}/shape`), dtype: "int64", shape: [output.shape.length] };
    initializers.set(shape.name, { value: shape, data: BigInt64Array.from(output.shape as number[], BigInt) });
    return [{ ...node, inputs: [constant, shape] }];
  });
  return { ...graph, nodes, initializers };
}

/** Replaces reshapes of computed values whose targets are zeros that wait by sums with the zero. */
function withoutWaits(graph: Graph): Graph {
  const producers = new Map(graph.nodes.flatMap((node) => node.outputs.map((v) => [v.name, node] as const)));
  return rewritten(graph, (node, write) => {
    const [x, target] = node.inputs;
    const [y] = node.outputs;
    const dimensions = producers.get(target?.name ?? "");
    const [zero] = dimensions?.op === "Concat" ? dimensions.inputs : [];
    const isWait = node.op === "Reshape" && producers.get(zero?.name ?? "")?.op === "Min";
    if (!isWait || x === undefined || zero === undefined || y === undefined) return [node];
    if (!producers.has(x.name) || !sameShape(x.shape, y.shape)) return [node];
    return write({ ...node, inputs: [x, zero] }, y, (e, v, wait) => e.add(v, e.cast(wait as Value, v.dtype)));
  });
}

/** Replaces dx = dy W, with W decoded from NF4 (emitNf4Matrix), by MatMulBnb4 with transB = 0. */
function packedGradients(graph: Graph): Graph {
  const producers = new Map(graph.nodes.flatMap((node) => node.outputs.map((v) => [v.name, node] as const)));
  const nodes = graph.nodes.map((node): Node => {
    const [dy, matrix, c] = node.inputs;
    if (node.op !== "Gemm" || dy === undefined || matrix === undefined || c !== undefined) return node;
    if (["transA", "transB"].some((flag) => Number(node.attributes[flag] ?? 0) === 1)) return node;
    const packed = packedMatrix(matrix, producers, graph.initializers);
    if (packed === undefined) return node;
    const [n, k] = matrix.shape as [number, number];
    return {
      ...node,
      op: "MatMulBnb4",
      domain: "com.microsoft",
      inputs: [dy, packed.codes, packed.scales],
      attributes: { ...bnb4Attributes(n, k), transB: 0, training_mode: 1 },
    };
  });
  return { ...graph, nodes };
}

type Producers = ReadonlyMap<string, Node>;

/** Finds codes [n k / 2] and scales [n k / 64] of a matrix that is decoded from NF4. */
function packedMatrix(
  matrix: Value,
  producers: Producers,
  initializers: ReadonlyMap<string, Initializer>,
): { codes: Value; scales: Value } | undefined {
  const made = (op: string, value: Value | undefined): readonly (Value | undefined)[] | undefined => {
    const node = producers.get(value?.name ?? "");
    return node?.op === op ? node.inputs : undefined;
  };
  const [units, column] = made("Mul", made("Reshape", matrix)?.[0]) ?? [];
  const [table, bytes] = made("Gather", made("Reshape", units)?.[0]) ?? [];
  const [codes] = made("Cast", bytes) ?? [];
  const scales = made("Reshape", column)?.[0];
  if (table?.shape.join() !== "256,2" || codes?.dtype !== "uint8" || !initializers.has(codes.name)) return undefined;
  return scales?.shape.length === 1 ? { codes, scales } : undefined;
}

/** Row indices into [old | new], new rows counted from the end: which are old, and the index in each part. */
interface Places {
  /** With an axis of size 1 for each further axis of the rows. */
  readonly isOld: Value;
  readonly old: Value;
  readonly fresh: Value;
}

/**
 * Looks keys and values of [old | new] (attention/keys.ts) up in both parts, and selects. Concatenating two parts of
 * different lengths would make CUDA's Concat copy a table with a number per row to the device, in every layer of every
 * round.
 */
export function withoutJoining(graph: Graph): Graph {
  const joined = new Map<string, readonly Value[]>();
  for (const { op, inputs, outputs, attributes } of graph.nodes)
    if (op === "Concat" && inputs.length === 2 && Number(attributes.axis) === 0 && outputs[0]?.dtype === "float32")
      joined.set(outputs[0].name, inputs as Value[]);
  const inputs = new Set(graph.inputs.map(({ name }) => name));
  // all layers use the same indices
  const known = new Map<string, Places>();
  return rewritten(graph, (node, writeOut, names) => {
    const [all, keys] = node.inputs;
    const [first, second] = joined.get(all?.name ?? "") ?? [];
    const [output] = node.outputs;
    if (node.op !== "Gather" || first === undefined || second === undefined || output === undefined) return [node];
    if (keys === undefined || !inputs.has(keys.name) || Number(node.attributes.axis ?? 0) !== 0) return [node];
    const write = (part: string, inputs: readonly Value[], result: Value, formula: Formula): readonly Node[] =>
      writeOut({ ...node, name: `${node.name}/${part}`, inputs }, result, formula);
    const before: Node[] = [];
    const axes = first.shape.slice(1).map((_, i) => keys.shape.length + i);
    const key = `${keys.name}/${axes.length}`;
    let places = known.get(key);
    if (places === undefined) {
      const value = (part: string, dtype: Value["dtype"]): Value => ({
        name: names.fresh(`/${key}/${part}`),
        dtype,
        shape: keys.shape,
      });
      const is = value("is", "bool");
      const isOld = { ...value("is-old", "bool"), shape: [...keys.shape, ...axes.map(() => 1)] };
      const old = value("old", "int64");
      const fresh = value("new", "int64");
      before.push(
        ...write("is", [keys], is, (e, at) => e.greaterOrEqual(at, 0)),
        ...write("is-old", [is], isOld, (e, at) => e.unsqueeze(at, axes)),
        ...write("old", [keys, is], old, (e, at, is) => e.where(is as Value, at, e.g.scalar(0, "int64"))),
        ...write("new", [keys, is], fresh, (e, at, is) => e.where(is as Value, e.g.scalar(-1, "int64"), at)),
      );
      places = { isOld, old, fresh };
      known.set(key, places);
    }
    const { isOld, old, fresh } = places;
    const rows = write("rows", [first, second, isOld, old, fresh], output, (e, a, ...rest) => {
      const [b, is, atOld, atNew] = rest as [Value, Value, Value, Value];
      return e.where(is, e.gather(a, atOld), e.gather(b, atNew));
    });
    return [...before, ...rows];
  });
}
