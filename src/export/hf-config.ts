import { UserError } from "../core/errors.js";
import { baseConfigSchema, type ModelConfig, parseConfig } from "../nn/config.js";
import type { Tokenizer } from "../text/tokenizer.js";
import type { Checkpoint } from "./checkpoint.js";
import { FAMILIES, type Family, type Json, SPECIAL_TOKENS, type SpecialToken } from "./families.js";

/** config.json of a Hugging Face checkpoint as the config of a model directory. */

/** Keys that change the computation, with the values under which ours is the same. */
const REQUIRED: Readonly<Record<string, readonly unknown[]>> = {
  hidden_act: ["silu"],
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
  checkpoint: Checkpoint,
  tokenizer: Tokenizer,
  chosen: Readonly<Partial<Record<SpecialToken, string>>> = {},
): ModelConfig {
  const { config: raw, where } = checkpoint;
  const family = typeof raw.architecture === "string" ? undefined : familyOf(raw, where);
  const own = family === undefined ? raw : normalised({ ...raw, ...family.keys(raw) }, family, where);
  const ids: Record<string, number> = {};
  for (const token of SPECIAL_TOKENS)
    ids[`${token}_token_id`] = specialId(token, checkpoint, tokenizer, chosen[token], family?.tokens[token] ?? []);
  const config = parseConfig(baseConfigSchema, { ...own, ...ids }, where);
  if (tokenizer.vocabSize > config.vocab_size) {
    throw new UserError(
      `The tokenizer of ${where} has ${tokenizer.vocabSize} tokens, its config only vocab_size ${config.vocab_size}.`,
      { hint: "Use the tokenizer that belongs to this checkpoint." },
    );
  }
  return config;
}

function familyOf(raw: Json, path: string): Family {
  const classes = Array.isArray(raw.architectures) ? raw.architectures.map(String) : [];
  const names = [...classes, ...(raw.model_type === undefined ? [] : [String(raw.model_type)])];
  const family = FAMILIES.find((f) => names.some((name) => f.names.some((pattern) => pattern.test(name))));
  if (family !== undefined) return family;
  throw new UserError(`${path}: the architecture ${names.join(", ") || "(none named)"} is not supported.`, {
    hint: `Supported: ${FAMILIES.map(({ title }) => title).join(", ")}, and config.json files that name an \`architecture\` of docs/model.md.`,
  });
}

/** Our keys from the family's own spellings; what is computed otherwise is refused. */
function normalised(raw: Json, family: Family, path: string): Json {
  const refuse = (key: string, value: unknown, expected: string): UserError =>
    new UserError(
      `${path}: ${key} is ${JSON.stringify(value) ?? "missing"}, which is not supported (expected ${expected}).`,
    );
  for (const [key, values] of Object.entries(REQUIRED)) {
    const value = raw[key];
    if (value !== undefined && value !== null && !values.includes(value))
      throw refuse(key, value, values.map((v) => JSON.stringify(v)).join(" or "));
  }
  for (const [key, values] of Object.entries(family.requires ?? {})) {
    if (!values.includes(raw[key])) throw refuse(key, raw[key], values.map((v) => JSON.stringify(v)).join(" or "));
  }
  const layers = raw.layer_types;
  if (Array.isArray(layers) && layers.some((kind) => kind !== "full_attention"))
    throw refuse("layer_types", [...new Set(layers)], "full_attention everywhere");
  // newer files keep theta and scaling together
  for (const key of ["rope_scaling", "rope_parameters"]) {
    const rope = (raw[key] ?? {}) as Json;
    if (Object.values(rope).some((value) => typeof value === "object" && value !== null))
      throw refuse(key, rope, "one rope for all layers");
    if ((rope.rope_type ?? rope.type ?? "default") !== "default") throw refuse(key, rope, "none");
  }
  const { rope_theta: theta } = (raw.rope_parameters ?? {}) as Json;
  const heads = Number(raw.num_attention_heads);
  return {
    ...raw,
    rope_theta: theta ?? raw.rope_theta ?? 10000,
    head_dim: raw.head_dim ?? Number(raw.hidden_size) / heads,
    num_key_value_heads: raw.num_key_value_heads ?? heads,
    tie_word_embeddings: raw.tie_word_embeddings ?? false,
  };
}

/** The id of a special token: as the user says, as config.json says, as the tokenizer's files say, or as is usual. */
function specialId(
  token: SpecialToken,
  { where, config, generationConfig, tokenizerConfig }: Checkpoint,
  tokenizer: Tokenizer,
  chosen: string | undefined,
  guesses: readonly string[],
): number {
  const flag = `--${token}-token`;
  if (chosen !== undefined) {
    const id = tokenizer.idOf(chosen);
    if (id === undefined) throw new UserError(`${flag} "${chosen}" is no token of ${where}.`, { exitCode: 2 });
    return id;
  }
  const key = `${token}_token_id`;
  const said = config[key] ?? generationConfig[key];
  // several ends: the first is the one that a chat turn ends in
  const id = Array.isArray(said) ? said[0] : said;
  if (Number.isSafeInteger(id)) return id as number;
  if (id !== undefined && id !== null)
    throw new UserError(`${where}: ${key} is ${JSON.stringify(said)}, expected an id.`);
  const described = tokenizerConfig[`${token}_token`];
  const name = typeof described === "object" && described !== null ? (described as Json).content : described;
  for (const candidate of [name, ...guesses]) {
    const found = typeof candidate === "string" ? tokenizer.idOf(candidate) : undefined;
    if (found !== undefined) return found;
  }
  throw new UserError(
    `${where} does not say ${key}, and the tokenizer has no ${guesses.join(" or ") || "token for it"}.`,
    {
      hint: `Name a token of the vocabulary: ${flag} TOKEN (one that stands for nothing else).`,
      exitCode: 2,
    },
  );
}
