import type { RawModel, RawNode } from "../onnx/format/raw-model.js";
import type { Initializer } from "../onnx/types.js";

/** A product with a weight matrix of the model. */
export interface Projection {
  readonly weight: Initializer;
  /** Shape in the stored layout, whatever the storage form. */
  readonly shape: readonly [number, number];
  /** The weight is stored as [out, in], PyTorch's layout. */
  readonly transposed: boolean;
  /** A Transpose node precedes the MatMul, as in exports of a head that shares the embedding. */
  readonly throughTranspose: boolean;
}

const PRODUCERS = new WeakMap<RawModel, ReadonlyMap<string, RawNode>>();

/** Returns the producer of each value, by name. */
export function producersOf(model: RawModel): ReadonlyMap<string, RawNode> {
  let producers = PRODUCERS.get(model);
  if (producers === undefined) {
    producers = new Map(model.nodes.flatMap((n) => n.outputs.filter((o) => o !== "").map((o) => [o, n] as const)));
    PRODUCERS.set(model, producers);
  }
  return producers;
}

/** Returns the weight matrix of a product, where it is the model's: stored as is, cast from 16 bits, or in 4 bits. */
export function projectionOf(model: RawModel, node: RawNode): Projection | undefined {
  let name = node.inputs[1] ?? "";
  if (node.op === "MatMulBnb4") {
    const weight = model.initializers.get(name);
    const shape = [Number(node.attributes.N), Number(node.attributes.K)] as const;
    return weight && { weight, shape, transposed: true, throughTranspose: false };
  }
  if (node.op !== "Gemm" && node.op !== "MatMul") return undefined;
  if (node.op === "Gemm" && Number(node.attributes.transA ?? 0) === 1) return undefined;
  const producers = producersOf(model);
  const found = (weight: Initializer | undefined, how: Pick<Projection, "transposed" | "throughTranspose">) =>
    weight?.value.shape.length === 2 ? { weight, shape: weight.value.shape as [number, number], ...how } : undefined;
  for (let made = producers.get(name); made?.op === "Cast"; made = producers.get(name)) name = made.inputs[0] ?? "";
  const direct = model.initializers.get(name);
  const transposed = node.op === "Gemm" && Number(node.attributes.transB ?? 0) === 1;
  if (direct !== undefined) return found(direct, { transposed, throughTranspose: false });
  const producer = producers.get(name);
  if (node.op !== "MatMul" || producer?.op !== "Transpose") return undefined;
  return found(model.initializers.get(producer.inputs[0] ?? ""), { transposed: true, throughTranspose: true });
}
