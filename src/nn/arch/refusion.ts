import { z } from "zod";
import { transformer, transformerSchema } from "../transformer.js";

/** ReFusion (arXiv 2512.13586): the blocks of Qwen3, or of another causal family, causal over the buffer. */
export const architecture = transformer(
  transformerSchema.extend({
    attention: z.literal("causal", {
      error: "refusion is causal over its buffer; the bidirectional model is architecture: masked_lm",
    }),
    shifted_logits: z
      .literal(false, { error: "what stands in front of a row of refusion's buffer is not its neighbour in the text" })
      .default(false),
  }),
);
