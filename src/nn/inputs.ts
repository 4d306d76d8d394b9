import { KEYS } from "../attention/keys.js";
import { fail } from "../core/errors.js";
import type { Emitter } from "../onnx/emit.js";
import type { RawModel } from "../onnx/format/raw-model.js";
import { formatShape, sizeOf } from "../onnx/shapes.js";
import type { Dim, Value } from "../onnx/types.js";

/** Inputs that a model's graph may take, by rank: the contract's own inputs, and those derived from them. */
const KNOWN: Readonly<Record<string, number>> = {
  input_ids: 2,
  position_ids: 2,
  attention_bias: 4,
  attention_mask: 2,
  token_type_ids: 2,
};

export const isModelInput = (name: string): boolean => Object.hasOwn(KNOWN, name);

/**
 * Declares the contract's inputs, used or not (input_ids and position_ids [B, N], attention_bias [B, 1, N, N], or [B,
 * 1, N, W] in a graph with other keys), and the model's further ones.
 * @param bound maps a dimension to a number, or to a symbol that stays.
 * @param positions makes position_ids known: 0, 1, ... and the last ones `positions - 1`.
 * @returns a value for each input of the model. `attention_mask` [B, N] is the first token's: the same for all
 *   tokens of a bidirectional model, whose bias blocks padding only. `token_type_ids` is 0.
 */
export function emitInputs(
  e: Emitter,
  model: RawModel,
  bound: (d: Dim) => Dim,
  positions?: number,
): Map<string, Value> {
  const { g } = e;
  for (const { name, shape } of model.inputs) {
    const rank = KNOWN[name];
    if (rank === undefined || rank === shape.length) continue;
    fail(
      `The graph ${model.name} takes ${name} as ${formatShape(shape)}; expected ${rank} dimensions, got ${shape.length}.`,
      { hint: "Export it with the inputs of the graph contract (docs/model.md)." },
    );
  }
  const ids = model.inputs.find((i) => i.name === "input_ids");
  // a network without tokens
  if (ids === undefined)
    return new Map(model.inputs.map(({ name, dtype, shape }) => [name, g.input(name, dtype, shape.map(bound))]));
  const [batch, length] = ids.shape.map(bound) as [Dim, Dim];
  const tokens = g.input("input_ids", "int64", [batch, length]);
  const places = g.input("position_ids", "int64", [batch, length]);
  const content = positions !== undefined && {
    content: Array.from({ length: sizeOf([batch, length]) }, (_, i) => Math.min(i, positions - 1)),
  };
  const hasKeys = model.inputs.some((i) => i.name === KEYS);
  const bias = hasKeys ? model.inputs.find((i) => i.name === "attention_bias") : undefined;
  const contract: Readonly<Record<string, Value>> = {
    input_ids: tokens,
    position_ids: { ...places, ...content },
    attention_bias: g.input("attention_bias", "float32", bias?.shape.map(bound) ?? [batch, 1, length, length]),
  };
  const values = new Map<string, Value>();
  for (const input of model.inputs) {
    const { name, dtype } = input;
    const given = contract[name];
    if (given !== undefined) values.set(name, e.cast(given, dtype));
    else if (name === "token_type_ids") values.set(name, e.zeros([batch, length], dtype));
    else if (name === "attention_mask") {
      const first = e.slice(contract.attention_bias as Value, 2, 0, 1);
      values.set(name, e.cast(e.greater(e.reshape(first, [batch, length]), -1), dtype));
    } else values.set(name, g.input(name, dtype, input.shape.map(bound)));
  }
  return values;
}
