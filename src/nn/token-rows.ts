import { Emitter } from "../onnx/emit.js";
import type { RawModel, RawNode } from "../onnx/format/raw-model.js";
import type { GraphBuilder } from "../onnx/graph.js";
import type { Initializer, Value } from "../onnx/types.js";
import { type LoraSite, rowsName } from "./lora.js";
import { producersOf } from "./projection.js";

/**
 * Rows of the table of embeddings that an adapter replaces: tokens which the model was never trained on, as the mask of a
 * model that was no diffusion model. PEFT calls them trainable tokens. Only what goes in is replaced: where the head
 * shares the table, its logits of such a token stay as they were, and mask and pad are never drawn.
 */

/** The table that a node looks up the graph's tokens in; undefined where it does something else. */
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
 * Puts a site's rows, a graph input, in the place of the table's own.
 * @param embedded [..., D] what the lookup of `ids` [...] gave
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
