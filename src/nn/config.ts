import { join } from "node:path";
import { z } from "zod";
import { UserError } from "../core/errors.js";
import { readJson } from "../core/files.js";
import { problemsOf } from "../core/problems.js";

/** The keys that every architecture has, under Hugging Face's names. Each architecture adds its own (arch/). */
export const baseConfigSchema = z.looseObject({
  architecture: z.string().describe("file name under src/nn/arch"),
  attention: z.enum(["causal", "bidirectional"]),
  vocab_size: z.int().positive(),
  hidden_size: z.int().positive(),
  mask_token_id: z.int().nonnegative(),
  eos_token_id: z.int().nonnegative(),
  pad_token_id: z.int().nonnegative(),
});

export type ModelConfig = z.infer<typeof baseConfigSchema>;

/** Reads and checks a model directory's config.json. */
export function readModelConfig(dir: string): ModelConfig {
  const path = join(dir, "config.json");
  return parseConfig(baseConfigSchema, readJson(path), path);
}

/** Parses with every problem listed at once. */
export function parseConfig<S extends z.ZodType>(schema: S, value: unknown, where: string): z.infer<S> {
  const result = schema.safeParse(value);
  if (!result.success) {
    throw new UserError(`${where} is not a usable model config:${problemsOf(result.error)}`, {
      hint: "docs/model.md lists the keys of each architecture",
    });
  }
  return result.data;
}
