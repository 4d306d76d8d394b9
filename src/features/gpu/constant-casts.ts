import { isLora } from "../../nn/lora.js";
import type { RawModel, RawNode } from "../../onnx/format/raw-model.js";
import { sizeOf } from "../../onnx/shapes.js";
import { DTYPE_OF_CODE, type DType, isExternal } from "../../onnx/types.js";

/** Most elements of a weight whose cast is kept beside it. */
const SMALL = 2 ** 20;

/** A cast of an adapter's matrix or of a weight to 16 bits, which another run need not repeat. */
export interface ConstantCast {
  readonly source: string;
  /** Name of the result, now an input of the graph. */
  readonly name: string;
  readonly dtype: DType;
}

interface WithoutCasts {
  readonly model: RawModel;
  readonly casts: readonly ConstantCast[];
  /** Inputs that the graph no longer has. */
  readonly unread: ReadonlySet<string>;
}

/**
 * Takes the casts of adapters and of small weights, such as scales, out of a graph: their results become inputs, which
 * are computed once for each of their values, not in every run.
 */
export function withoutConstantCasts(model: RawModel): WithoutCasts {
  const inputs = new Map(model.inputs.map((input) => [input.name, input]));
  const outputs = new Set(model.outputs.map(({ name }) => name));
  const castOf = ({
    op,
    inputs: [source = ""],
    outputs: [name = ""],
    attributes,
  }: RawNode): ConstantCast | undefined => {
    const dtype = DTYPE_OF_CODE[Number(attributes.to)];
    if (op !== "Cast" || (dtype !== "bfloat16" && dtype !== "float16") || outputs.has(name)) return undefined;
    const weight = model.initializers.get(source);
    const isSmall = weight && isExternal(weight.data) && sizeOf(weight.value.shape as number[]) <= SMALL;
    const isParameter = inputs.has(source) && (isLora(source, "A") || isLora(source, "B"));
    return isSmall || isParameter ? { source, name, dtype } : undefined;
  };
  const made = new Map(
    model.nodes.flatMap((node) => {
      const cast = castOf(node);
      return cast === undefined ? [] : [[node, cast] as const];
    }),
  );
  const casts = [...made.values()];
  const nodes = model.nodes.filter((node) => !made.has(node));
  const read = new Set(nodes.flatMap((node) => node.inputs));
  // an input that no node reads would be copied to the host in every run
  const unread = new Set(casts.flatMap(({ source }) => (read.has(source) ? [] : [source])));
  const shapeOf = (source: string) => (inputs.get(source) ?? model.initializers.get(source)?.value)?.shape ?? [];
  const added = casts.map(({ source, name, dtype }) => ({ name, dtype, shape: shapeOf(source) }));
  return {
    casts,
    unread,
    model: { ...model, nodes, inputs: [...model.inputs.filter(({ name }) => !unread.has(name)), ...added] },
  };
}
