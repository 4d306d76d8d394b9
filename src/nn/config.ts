import { join } from "node:path";
import { z } from "zod";
import { readJson } from "../core/files.js";
import { checked } from "../core/problems.js";
import { LARGEST_VOCABULARY } from "../text/tokenizer.js";

/** A size up to a limit that memory can bear: sizes are checked before anything is built from them. */
export const size = (most: number): z.ZodInt => z.int().positive().max(most);
/** The most layers, and the widest hidden vector; a vocabulary is at most LARGEST_VOCABULARY. */
export const MOST_LAYERS = 1000;
export const WIDEST = 2 ** 17;

/** The keys that every architecture has, under Hugging Face's names. Each architecture adds its own (arch/). */
export const baseConfigSchema = z.looseObject({
  architecture: z.string().describe("file name under src/nn/arch"),
  attention: z.enum(["causal", "bidirectional"]),
  attention_block: size(WIDEST)
    .optional()
    .describe("of a bidirectional model: positions a block; a token sees its own block and those before it"),
  vocab_size: size(LARGEST_VOCABULARY),
  hidden_size: size(WIDEST),
  mask_token_id: z.int().nonnegative(),
  eos_token_id: z
    .union([z.int().nonnegative(), z.array(z.int().nonnegative()).min(1)])
    .describe("the end of a text; of several the first is written, and any ends it"),
  pad_token_id: z.int().nonnegative(),
  longest: size(WIDEST * 64)
    .optional()
    .describe(
      "most tokens of prompt and response together, where longer texts are computed otherwise: a sliding window",
    ),
  logits_output: z
    .string()
    .optional()
    .describe("of another program's graph: the output with the logits, if not `logits`"),
  reads_tokens: z.boolean().optional().describe("false: the network has no vocabulary, and no tokenizer.json"),
});

export type ModelConfig = z.infer<typeof baseConfigSchema>;

/** Returns the ids that end a text; the first is the one that is written. */
export const eosIds = ({ eos_token_id: ids }: Pick<ModelConfig, "eos_token_id">): readonly [number, ...number[]] =>
  [ids].flat() as [number, ...number[]];

/** Placeholder for the vocabulary of a model that has none, or none yet. */
export const NO_VOCABULARY = { vocab_size: 1, pad_token_id: 0, eos_token_id: 0, mask_token_id: 0 } as const;

/** Completes a config.json: a network without tokens states neither vocabulary nor attention. */
function complete(raw: unknown): unknown {
  const silent = raw !== null && typeof raw === "object" && "reads_tokens" in raw && raw.reads_tokens === false;
  return silent ? { attention: "bidirectional", ...NO_VOCABULARY, ...raw } : raw;
}

/** Reads and checks a model directory's config.json. */
export function readModelConfig(dir: string): ModelConfig {
  const path = join(dir, "config.json");
  return parseConfig(baseConfigSchema, complete(readJson(path)), path);
}

/** Parses a config. @throws UserError with every problem at once. */
export function parseConfig<S extends z.ZodType>(schema: S, value: unknown, where: string): z.infer<S> {
  return checked(schema, value, `${where} is not a usable model config`, {
    hint: "docs/model.md lists the keys of each architecture",
  });
}
