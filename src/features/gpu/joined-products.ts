import { groupBy } from "../../core/group-by.js";
import type { RawModel, RawNode } from "../../onnx/format/raw-model.js";
import { type ExternalData, type Initializer, isExternal } from "../../onnx/types.js";

/** Products of one input that are joined at least: the split of their results is one launch more. */
const LEAST = 3;

/** Bytes of which the length of a weight is a multiple that others follow, so that each begins where kernels are fast. */
const ALIGNED = 256;

/** A product y = x W^T, and the product of an adapter that is added to it. */
interface Member {
  readonly product: RawNode;
  readonly rows: number;
  readonly adapter: RawNode | undefined;
}

/**
 * Multiplies an input by three or more weights at once, as by those of queries, keys and values, and so the low-rank
 * product of their adapters: the weights, which no other node reads, lie one behind the other in memory. A gradient
 * reads each alone, and there they stay apart.
 */
export function withJoinedProducts(model: RawModel): RawModel {
  const readers = new Map<string, RawNode[]>();
  for (const node of model.nodes)
    for (const name of node.inputs) readers.set(name ?? "", [...(readers.get(name ?? "") ?? []), node]);
  const groups = groupBy(
    model.nodes.flatMap((node) => memberOf(node, model, readers) ?? []),
    ({ product: { op, inputs, attributes } }) => `${op} ${inputs[0]} ${attributes.K ?? ""}`,
  );
  const initializers = new Map(model.initializers);
  const left = new Set<RawNode>();
  const made: RawNode[] = [];
  for (const members of groups.values()) {
    if (members.length < LEAST) continue;
    const joined = new Joined(members, initializers);
    made.push(...joined.nodes);
    for (const { product, adapter } of members) {
      left.add(product);
      if (joined.isAdapted && adapter !== undefined) left.add(adapter);
    }
  }
  if (made.length === 0) return model;
  const nodes = inOrder([...model.nodes.filter((node) => !left.has(node)), ...made], model.outputs);
  const read = new Set(nodes.flatMap(({ inputs }) => inputs));
  return { ...model, nodes, initializers: new Map([...initializers].filter(([name]) => read.has(name))) };
}

function memberOf(
  product: RawNode,
  { initializers }: RawModel,
  readers: ReadonlyMap<string, readonly RawNode[]>,
): Member | undefined {
  const { op, inputs, outputs, attributes } = product;
  const weight = initializers.get(inputs[1] ?? "");
  const isPlain =
    op === "MatMulBnb4" || (op === "Gemm" && inputs[2] === undefined && Number(attributes.alpha ?? 1) === 1);
  if (!isPlain || Number(attributes.transA ?? 0) === 1 || Number(attributes.transB ?? 0) === 0) return undefined;
  if (weight === undefined || !isExternal(weight.data) || weight.data.length % ALIGNED !== 0) return undefined;
  if (readers.get(weight.value.name)?.length !== 1) return undefined;
  const next = readers.get(outputs[0] ?? "") ?? [];
  const [after] = next;
  const isAdapter =
    after?.op === "Gemm" && after.inputs[2] === outputs[0] && Number(after.attributes.transB ?? 0) === 1;
  const adapter = next.length === 1 && isAdapter ? after : undefined;
  return { product, rows: Number(attributes.N ?? weight.value.shape[0]), adapter };
}

class Joined {
  readonly nodes: RawNode[] = [];
  /** The adapters' products are one too. */
  readonly isAdapted: boolean;
  private readonly name: string;

  constructor(
    members: readonly Member[],
    private readonly initializers: Map<string, Initializer>,
  ) {
    const [{ product, adapter }] = members as [Member];
    this.name = `${product.name}/joined`;
    const rows = members.map((member) => member.rows);
    const sizes = this.constant("sizes", BigInt64Array.from(rows, BigInt));
    const operands = product.inputs.slice(1).map((_, i) => this.operand(members.map((m) => m.product.inputs[i + 1])));
    const total = rows.reduce((a, b) => a + b);
    const { N, ...attributes } = product.attributes;
    this.node(product, "product", [product.inputs[0], ...operands], {
      ...attributes,
      ...(N === undefined ? {} : { N: total }),
    });
    this.isAdapted = members.every(
      (m) => m.adapter?.inputs[0] === adapter?.inputs[0] && m.adapter?.attributes.alpha === adapter?.attributes.alpha,
    );
    let last = product;
    if (this.isAdapted && adapter !== undefined) {
      const b = this.operand(members.map((m) => m.adapter?.inputs[1]));
      this.node(adapter, "adapter", [adapter.inputs[0], b, `${this.name}/product`], adapter.attributes);
      last = adapter;
    }
    const outputs = members.map((m) => (last === adapter ? m.adapter : m.product)?.outputs[0] ?? "");
    this.nodes.push({
      ...{ name: `${this.name}/split`, op: "Split", domain: "", attributes: { axis: 1 }, outputs },
      inputs: [`${this.name}/${last === adapter ? "adapter" : "product"}`, sizes],
    });
  }

  private node(like: RawNode, part: string, inputs: RawNode["inputs"], attributes: RawNode["attributes"]): void {
    const name = `${this.name}/${part}`;
    this.nodes.push({ ...like, name, inputs, outputs: [name], attributes });
  }

  private constant(part: string, data: BigInt64Array): string {
    const name = `${this.name}/${part}`;
    this.initializers.set(name, { value: { name, dtype: "int64", shape: [data.length] }, data });
    return name;
  }

  /** Joins values along their first axis: weights of one file when they are loaded, others by a node. */
  private operand(names: readonly (string | undefined)[]): string {
    const name = `${this.name}/${this.nodes.length}/${names[0]}`;
    const weights = names.map((one) => this.initializers.get(one ?? ""));
    const places = weights.flatMap((one) => (one !== undefined && isExternal(one.data) ? [one.data] : []));
    const [first] = places;
    if (first !== undefined && places.length === names.length && places.every(({ file }) => file === first.file)) {
      const length = places.reduce((n, place) => n + place.length, 0);
      const [{ value }] = weights as [Initializer];
      const rows = weights.reduce((n, one) => n + Number(one?.value.shape[0]), 0);
      // an offset that is valid for ONNX Runtime, which does not read the file
      const data: ExternalData = { file: first.file, offset: 0, length, parts: places };
      this.initializers.set(name, { value: { ...value, name, shape: [rows, ...value.shape.slice(1)] }, data });
    } else this.nodes.push({ name, op: "Concat", domain: "", inputs: names, outputs: [name], attributes: { axis: 0 } });
    return name;
  }
}

/** Returns the nodes in topological order. */
function inOrder(nodes: readonly RawNode[], outputs: RawModel["outputs"]): RawNode[] {
  const producers = new Map(nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)));
  // the name of what is left out
  producers.delete("");
  const ordered = new Set<RawNode>();
  const open = outputs.map(({ name }) => producers.get(name)).reverse();
  for (let node = open.at(-1); open.length > 0; node = open.at(-1)) {
    const before = (node?.inputs ?? []).map((name) => producers.get(name ?? "")).filter((n) => n && !ordered.has(n));
    if (node !== undefined && before.length > 0) open.push(...before.reverse());
    else {
      open.pop();
      if (node !== undefined) ordered.add(node);
    }
  }
  return [...ordered];
}
