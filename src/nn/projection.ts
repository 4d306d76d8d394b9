import type { RawModel, RawNode } from "../onnx/proto.js";
import type { Initializer } from "../onnx/types.js";

/** A product with a weight matrix of the model. */
export interface Projection {
  readonly weight: Initializer;
  /** The weight lies as [out, in], as PyTorch keeps it. */
  readonly transposed: boolean;
  /** The weight reaches a MatMul through a Transpose node, as exporters write a head that shares the embedding. */
  readonly throughTranspose: boolean;
}

const PRODUCERS = new WeakMap<RawModel, ReadonlyMap<string, RawNode>>();

/** Value -> the node that makes it. */
export function producersOf(model: RawModel): ReadonlyMap<string, RawNode> {
  let producers = PRODUCERS.get(model);
  if (producers === undefined) {
    producers = new Map(model.nodes.flatMap((n) => n.outputs.filter((o) => o !== "").map((o) => [o, n] as const)));
    PRODUCERS.set(model, producers);
  }
  return producers;
}

/** What a Gemm or MatMul multiplies by, where that is a matrix of the model. */
export function projectionOf(model: RawModel, node: RawNode): Projection | undefined {
  if (node.op !== "Gemm" && node.op !== "MatMul") return undefined;
  if (node.op === "Gemm" && Number(node.attributes.transA ?? 0) === 1) return undefined;
  const name = node.inputs[1] ?? "";
  const direct = model.initializers.get(name);
  const isMatrix = (w: Initializer | undefined): w is Initializer => w?.value.shape.length === 2;
  if (isMatrix(direct)) {
    const transposed = node.op === "Gemm" && Number(node.attributes.transB ?? 0) === 1;
    return { weight: direct, transposed, throughTranspose: false };
  }
  const producer = producersOf(model).get(name);
  if (node.op !== "MatMul" || producer?.op !== "Transpose") return undefined;
  const weight = model.initializers.get(producer.inputs[0] ?? "");
  return isMatrix(weight) ? { weight, transposed: true, throughTranspose: true } : undefined;
}
