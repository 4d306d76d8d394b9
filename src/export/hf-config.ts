import { existsSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../core/errors.js";
import { readJson } from "../core/files.js";
import { baseConfigSchema, type ModelConfig, parseConfig } from "../nn/config.js";
import type { Tokenizer } from "../text/tokenizer.js";
import { readTokenizerConfig } from "../text/tokenizer-files.js";

/** config.json of a Hugging Face checkpoint as the config of a model directory. */

type Json = Readonly<Record<string, unknown>>;

/** What a family of checkpoints may say for our architecture to compute the same. */
interface Family {
  readonly architecture: string;
  readonly attention: "causal" | "bidirectional";
  /** Class names in `architectures`, or `model_type`. */
  readonly names: readonly RegExp[];
  /** Tokens that are tried, in this order, for what config.json leaves open. */
  readonly tokens: Readonly<Record<SpecialToken, readonly string[]>>;
}

export const SPECIAL_TOKENS = ["mask", "eos", "pad"] as const;
export type SpecialToken = (typeof SPECIAL_TOKENS)[number];

const FAMILIES: readonly Family[] = [
  {
    architecture: "refusion",
    attention: "causal",
    names: [/^qwen3$/i, /^Qwen3ForCausalLM$/, /refusion/i],
    tokens: { mask: ["<|mask|>"], eos: ["<|im_end|>"], pad: ["<|endoftext|>"] },
  },
];

/** Keys that change the computation, with the values under which ours is the same. */
const REQUIRED: Readonly<Record<string, readonly unknown[]>> = {
  hidden_act: ["silu"],
  attention_bias: [false],
  mlp_bias: [false],
  use_sliding_window: [false],
  partial_rotary_factor: [1],
};

/**
 * Reads config.json of a checkpoint, or of a model directory, which says its `architecture` itself.
 * @param chosen tokens that the user names for mask, EOS and padding.
 * @throws UserError naming the key and its value where our graph would compute something else.
 */
export function readCheckpointConfig(
  dir: string,
  tokenizer: Tokenizer,
  chosen: Readonly<Partial<Record<SpecialToken, string>>> = {},
): ModelConfig {
  const path = join(dir, "config.json");
  const json = readJson(path);
  if (typeof json !== "object" || json === null) throw new UserError(`${path} is not an object.`);
  const raw = json as Json;
  const known = typeof raw.architecture === "string";
  const family = known ? undefined : familyOf(raw, path);
  const own = family === undefined ? raw : { ...normalised(raw, path), ...pick(family, ["architecture", "attention"]) };
  const ids: Record<string, number> = {};
  for (const token of SPECIAL_TOKENS) {
    const id = specialId(token, {
      dir,
      path,
      raw,
      tokenizer,
      chosen: chosen[token],
      guesses: family?.tokens[token] ?? [],
    });
    if (id !== undefined) ids[`${token}_token_id`] = id;
  }
  const config = parseConfig(baseConfigSchema, { ...own, ...ids }, path);
  if (tokenizer.vocabSize > config.vocab_size) {
    throw new UserError(
      `The tokenizer of ${dir} has ${tokenizer.vocabSize} tokens, its config.json only vocab_size ${config.vocab_size}.`,
      { hint: "Use the tokenizer that belongs to this checkpoint." },
    );
  }
  return config;
}

function pick<K extends keyof Family>(family: Family, keys: readonly K[]): Pick<Family, K> {
  return Object.fromEntries(keys.map((key) => [key, family[key]])) as Pick<Family, K>;
}

function familyOf(raw: Json, path: string): Family {
  const classes = Array.isArray(raw.architectures) ? raw.architectures.map(String) : [];
  const names = [...classes, ...(raw.model_type === undefined ? [] : [String(raw.model_type)])];
  const family = FAMILIES.find((f) => names.some((name) => f.names.some((pattern) => pattern.test(name))));
  if (family !== undefined) return family;
  throw new UserError(`${path}: the architecture ${names.join(", ") || "(none named)"} is not supported.`, {
    hint: "Supported: ReFusion and Qwen3 checkpoints, and config.json files that name an `architecture` of docs/model.md.",
  });
}

/** Our keys from the family's own spellings; what is computed otherwise is refused. */
function normalised(raw: Json, path: string): Json {
  const refuse = (key: string, value: unknown, expected: string): UserError =>
    new UserError(`${path}: ${key} is ${JSON.stringify(value)}, which is not supported (expected ${expected}).`);
  for (const [key, values] of Object.entries(REQUIRED)) {
    const value = raw[key];
    if (value !== undefined && value !== null && !values.includes(value))
      throw refuse(key, value, values.map((v) => JSON.stringify(v)).join(" or "));
  }
  const layers = raw.layer_types;
  if (Array.isArray(layers) && layers.some((kind) => kind !== "full_attention"))
    throw refuse("layer_types", [...new Set(layers)], "full_attention everywhere");
  // newer files keep theta and scaling together
  for (const key of ["rope_scaling", "rope_parameters"]) {
    const rope = (raw[key] ?? {}) as Json;
    if ((rope.rope_type ?? rope.type ?? "default") !== "default") throw refuse(key, rope, "none");
  }
  const { rope_theta: theta } = (raw.rope_parameters ?? {}) as Json;
  const heads = Number(raw.num_attention_heads);
  return {
    ...raw,
    rope_theta: raw.rope_theta ?? theta ?? 10000,
    head_dim: raw.head_dim ?? Number(raw.hidden_size) / heads,
    num_key_value_heads: raw.num_key_value_heads ?? heads,
    tie_word_embeddings: raw.tie_word_embeddings ?? false,
  };
}

interface Lookup {
  readonly dir: string;
  readonly path: string;
  readonly raw: Json;
  readonly tokenizer: Tokenizer;
  readonly chosen: string | undefined;
  readonly guesses: readonly string[];
}

/** The id of a special token: as the user says, as config.json says, as the tokenizer's files say, or as is usual. */
function specialId(token: SpecialToken, lookup: Lookup): number | undefined {
  const { dir, path, raw, tokenizer, chosen, guesses } = lookup;
  const flag = `--${token}-token`;
  if (chosen !== undefined) {
    const id = tokenizer.idOf(chosen);
    if (id === undefined) throw new UserError(`${flag} "${chosen}" is no token of ${dir}.`, { exitCode: 2 });
    return id;
  }
  const key = `${token}_token_id`;
  const said = raw[key] ?? generationConfig(dir)[key];
  // several ends: the first is the one that a chat turn ends in
  const id = Array.isArray(said) ? said[0] : said;
  if (Number.isSafeInteger(id)) return id as number;
  if (id !== undefined && id !== null)
    throw new UserError(`${path}: ${key} is ${JSON.stringify(said)}, expected an id.`);
  const described = readTokenizerConfig(dir)[`${token}_token`];
  const name = typeof described === "object" && described !== null ? (described as Json).content : described;
  for (const candidate of [name, ...guesses]) {
    const found = typeof candidate === "string" ? tokenizer.idOf(candidate) : undefined;
    if (found !== undefined) return found;
  }
  throw new UserError(
    `${path} does not say ${key}, and the tokenizer has no ${guesses.join(" or ") || "token for it"}.`,
    {
      hint: `Name a token of the vocabulary: ${flag} TOKEN (one that stands for nothing else).`,
      exitCode: 2,
    },
  );
}

function generationConfig(dir: string): Json {
  const path = join(dir, "generation_config.json");
  return existsSync(path) ? ((readJson(path) ?? {}) as Json) : {};
}
