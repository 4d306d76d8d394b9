import { Emitter } from "../onnx/emit.js";
import type { RawModel, RawNode } from "../onnx/format/raw-model.js";
import type { GraphBuilder } from "../onnx/graph.js";
import type { Initializer, Value } from "../onnx/types.js";
import { type LoraSite, rowsName } from "./lora.js";
import { producersOf } from "./projection.js";

/**
 * Rows of the embedding table that an adapter replaces, for tokens that the model was never trained on, as the mask in
 * a model that was no diffusion model. PEFT calls them trainable tokens. Only the input embedding is replaced: a head
 * that shares the table keeps its logits of such a token, and mask and pad are never drawn.
 */

/** Returns the embedding table of a lookup of tokens; undefined for any other node. */
export function tableOf(model: RawModel, node: RawNode): Initializer | undefined {
  if (node.op !== "Gather") return undefined;
  const producers = producersOf(model);
  const source = (name: string): string => {
    const made = producers.get(name);
    return made?.op === "Cast" || made?.op === "Identity" ? source(made.inputs[0] ?? "") : name;
  };
  if (source(node.inputs[1] ?? "") !== "input_ids") return undefined;
  const table = model.initializers.get(source(node.inputs[0] ?? ""));
  return table?.value.shape.length === 2 ? table : undefined;
}

/**
 * Replaces the looked-up rows of a site's tokens by a graph input.
 * @param embedded [..., D] result of the lookup of `ids` [...]
 */
export function replaceRows(g: GraphBuilder, site: LoraSite, ids: Value, embedded: Value): { rows: Value; y: Value } {
  const e = new Emitter(g);
  const { tokens = [], outFeatures, module } = site;
  const rows = g.input(rowsName(module), "float32", [tokens.length, outFeatures]);
  const y = tokens.reduce(
    (y, id, i) => {
      const here = e.unsqueeze(e.equal(ids, g.scalar(id, ids.dtype)), [-1]);
      return e.where(here, e.gather(rows, g.constant("int64", [1], [i])), y);
    },
    e.cast(embedded, "float32"),
  );
  return { rows, y };
}
