import { z } from "zod";
import { transformer, transformerSchema } from "../transformer.js";

/** A masked diffusion LM like LLaDA (arXiv 2502.09992): a mask sees the tokens on both sides. */
export const architecture = transformer(
  transformerSchema.extend({
    attention: z.literal("bidirectional", {
      error: "masked_lm is bidirectional; the causal model is architecture: refusion",
    }),
  }),
);
