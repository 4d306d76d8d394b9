import { z } from "zod";
import { transformer, transformerSchema } from "../transformer.js";

/** ReFusion (arXiv 2512.13586): Qwen3 blocks, causal over the buffer. */
export const architecture = transformer(
  transformerSchema.extend({
    attention: z.literal("causal", {
      error: "refusion is causal over its buffer; the bidirectional model is architecture: masked_lm",
    }),
    qk_norm: z.literal(true, { error: "refusion always normalises q and k; masked_lm may do without" }).default(true),
  }),
);
