import { fail, misuse } from "../../core/errors.js";
import { baseConfigSchema, type ModelConfig, parseConfig } from "../../nn/config.js";
import { type RopeScaling, ropeScalingSchema } from "../../nn/rope.js";
import type { Tokenizer } from "../../text/tokenizer.js";
import type { Checkpoint, Json } from "./checkpoint-source.js";
import { type ChosenTokens, FAMILIES, type Family, SPECIAL_TOKENS, type SpecialToken } from "./families.js";

/** Converts config.json of a Hugging Face checkpoint to the config of a model directory. */

/** Keys that change the computation, with the values that our graphs implement. */
const REQUIRED: Readonly<Record<string, readonly unknown[]>> = {
  hidden_act: ["silu", "swish"],
  hidden_activation: ["silu", "swish"],
  mlp_bias: [false],
  rope_interleaved: [false],
  partial_rotary_factor: [1],
  layer_norm_with_affine: [true],
  rope_full_precision: [true],
};

/** Names of keys that may change the computation: unknown ones are refused, not ignored. */
const COMPUTES =
  /rope|rotary|alibi|attn|attention|norm|scal|soft_?cap|logit|multiplier|window|bias|(^|_)act(_|iv)|expert|moe|residual|qk|clip|parallel|chunk|gat(e|ing)|sparse|mup/;
/** Names of keys that affect only training, memory or speed. */
const BESIDES = /dropout|init|implementation|flash|token|loss|aux|output_|pretraining|_eps$|_std$/;
/** Keys that are read here, and sizes that matter only with other keys. */
const UNDERSTOOD = new Set([
  ...[
    "rope_theta",
    "rope_scaling",
    "rope_parameters",
    "layer_types",
    "sliding_window",
    "use_sliding_window",
    "max_window_layers",
  ],
  ...["num_attention_heads", "attention_bias", "include_qkv_bias", "multi_query_attention", "no_rope_layers"],
  ...["no_rope_layer_interval", "alibi_bias_max", "attention_layer_norm_with_affine", ...Object.keys(REQUIRED)],
]);

/**
 * Reads config.json of a checkpoint, or of a model directory, which names its `architecture`.
 * @param chosen mask, EOS and padding tokens that the user has set.
 * @throws UserError that names a key and its value, if our graph would compute something else.
 */
export function readCheckpointConfig(
  checkpoint: Checkpoint,
  tokenizer: Tokenizer,
  chosen: ChosenTokens = {},
): ModelConfig {
  const { config: raw, where } = checkpoint;
  const family = typeof raw.architecture === "string" ? undefined : familyOf(raw, where);
  const own = family === undefined ? raw : normalised(raw, family, where);
  const ids: Record<string, number | readonly number[]> = {};
  for (const token of SPECIAL_TOKENS)
    ids[`${token}_token_id`] = specialId(token, checkpoint, tokenizer, chosen[token], family?.tokens[token] ?? []);
  const config = parseConfig(baseConfigSchema, { ...own, ...ids }, where);
  if (tokenizer.vocabSize > config.vocab_size)
    fail(
      `The tokenizer of ${where} has ${tokenizer.vocabSize} tokens, its config only vocab_size ${config.vocab_size}.`,
      { hint: "Use the tokenizer that belongs to this checkpoint." },
    );
  return config;
}

function familyOf(raw: Json, path: string): Family {
  const classes = Array.isArray(raw.architectures) ? raw.architectures.map(String) : [];
  const names = [...classes, ...(raw.model_type === undefined ? [] : [String(raw.model_type)])];
  const family = FAMILIES.find((f) => names.some((name) => f.names.some((pattern) => pattern.test(name))));
  if (family !== undefined) return family;
  fail(`${path}: the architecture ${names.join(", ") || "(none named)"} is not supported.`, {
    hint: `Supported: ${FAMILIES.map(({ title }) => title).join(", ")}, and config.json files that name an \`architecture\` of docs/model.md.`,
  });
}

/** Translates the family's keys to ours; a different computation is refused. */
function normalised(raw: Json, family: Family, path: string): Json {
  const own = family.keys(raw);
  checkComputation(raw, own, family, path);
  const { rope_theta: theta } = { ...(raw.rope_scaling as Json), ...(raw.rope_parameters as Json) };
  const heads = Number(raw.num_attention_heads ?? own.num_attention_heads);
  const joined: Json = { ...raw, ...own };
  return {
    ...joined,
    rope_theta: theta ?? raw.rope_theta ?? 10000,
    rope_scaling: ropeScaling(raw, path),
    longest: longestText(raw),
    head_dim: joined.head_dim ?? Number(joined.hidden_size) / heads,
    num_key_value_heads: joined.num_key_value_heads ?? heads,
    tie_word_embeddings: joined.tie_word_embeddings ?? false,
  };
}

function unsupported(path: string, key: string, value: unknown, expected: unknown, hint?: string): never {
  fail(
    `${path}: ${key} is ${JSON.stringify(value) ?? "missing"}, which is not supported (expected ${expected}).`,
    hint === undefined ? {} : { hint },
  );
}

/** Tells whether the attention of some layers is limited to a window. */
const hasWindow = ({ sliding_window: window, use_sliding_window: used }: Json): boolean =>
  Number.isSafeInteger(window) && used !== false;

/**
 * Returns the longest text for which our graph computes the same: a window that holds it all is no limit, and dynamic
 * RoPE begins beyond the trained length. Undefined: any length.
 */
function longestText(raw: Json): number | undefined {
  const { rope_type, type } = { ...(raw.rope_scaling as Json), ...(raw.rope_parameters as Json) };
  const limits = [
    ...(hasWindow(raw) ? [Number(raw.sliding_window)] : []),
    ...((rope_type ?? type) === "dynamic" ? [Number(raw.max_position_embeddings)] : []),
  ];
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/** Returns how the angles of RoPE are scaled; undefined: not at all. Newer files store theta in the same object. */
function ropeScaling(raw: Json, path: string): RopeScaling | undefined {
  const found = ["rope_scaling", "rope_parameters"].flatMap((key) => {
    if (isNone(raw[key])) return [];
    const { rope_theta: _, rope_type, type, partial_rotary_factor: part, ...rest } = raw[key] as Json;
    const kind = rope_type ?? type ?? "default";
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => !isNone(value)));
    const trained = kind === "yarn" && { original_max_position_embeddings: raw.max_position_embeddings };
    const scaling = ropeScalingSchema.safeParse({ rope_type: kind, ...trained, ...given }).data;
    const isDynamic = kind === "dynamic" && Number.isSafeInteger(raw.max_position_embeddings);
    const isPlain = isDynamic || (kind === "default" && Object.keys(given).length === 0);
    if (typeof raw[key] !== "object" || (part ?? 1) !== 1 || (scaling === undefined && !isPlain))
      unsupported(path, key, raw[key], "one rope for all layers: default, linear, dynamic, llama3 or yarn");
    return [scaling];
  });
  if (found.length === 2 && JSON.stringify(found[0]) !== JSON.stringify(found[1]))
    unsupported(path, "rope_scaling", raw.rope_scaling, "the scaling of rope_parameters");
  return found[0];
}

/** @throws UserError that names a key and its value, if our graph would ignore it. */
function checkComputation(raw: Json, own: Json, family: Family, path: string): void {
  const check = (key: string, value: unknown, values: readonly unknown[] | string): void => {
    if (Array.isArray(values) && values.includes(value)) return;
    unsupported(path, key, value, Array.isArray(values) ? values.map((v) => JSON.stringify(v)).join(" or ") : values);
  };
  for (const [key, values] of Object.entries(REQUIRED)) if (!isNone(raw[key])) check(key, raw[key], values);
  for (const [key, values] of Object.entries(family.requires ?? {})) check(key, raw[key], values);
  const { layer_types: layers, sliding_window: window } = raw;
  const kinds = ["full_attention", ...(hasWindow(raw) ? ["sliding_attention"] : [])];
  if (Array.isArray(layers) && layers.some((kind) => !kinds.includes(kind)))
    check("layer_types", [...new Set(layers)], `${kinds.join(" or ")} everywhere`);
  if (!isNone(window) && !hasWindow(raw) && raw.use_sliding_window !== false)
    unsupported(path, "sliding_window", window, "a number of tokens");
  for (const [key, value] of Object.entries(raw)) {
    if (!COMPUTES.test(key) || BESIDES.test(key) || UNDERSTOOD.has(key) || family.requires?.[key] !== undefined)
      continue;
    const neutral = [undefined, "null", "false", "0", "[]", "{}", '""'].includes(JSON.stringify(value));
    const factor = value === 1 && /multiplier|scal|parallel/.test(key);
    if (!neutral && !factor && own[key] !== value)
      fail(`${path}: ${key} is ${JSON.stringify(value)}, which is not supported.`, {
        hint: "Remove the key from config.json if the checkpoint's own code computes nothing else by it.",
      });
  }
}

const isNone = (value: unknown): boolean => value === undefined || value === null;

/** Finds the id of a special token: from the user, config.json, the tokenizer's files, or the family's usual tokens. */
function specialId(
  token: SpecialToken,
  { where, config, generationConfig, tokenizerConfig }: Checkpoint,
  tokenizer: Tokenizer,
  chosen: string | undefined,
  guesses: readonly string[],
): number | readonly number[] {
  const flag = `--${token}-token`;
  if (chosen !== undefined) {
    const id = tokenizer.idOf(chosen);
    if (id === undefined) misuse(`${flag} "${chosen}" is no token of ${where}.`);
    return id;
  }
  const key = `${token}_token_id`;
  const value = config[key] ?? generationConfig[key];
  const list = Array.isArray(value) ? [...new Set<unknown>(value)] : [];
  // a chat model has several EOS tokens, of which the first ends a turn
  if (token === "eos" && list.length > 1 && list.every(Number.isSafeInteger)) return list as number[];
  const id = Array.isArray(value) ? value[0] : value;
  if (Number.isSafeInteger(id)) return id as number;
  if (id !== undefined && id !== null) fail(`${where}: ${key} is ${JSON.stringify(value)}, expected an id.`);
  const described = tokenizerConfig[`${token}_token`];
  const name = typeof described === "object" && described !== null ? (described as Json).content : described;
  for (const candidate of [name, ...guesses]) {
    const found = typeof candidate === "string" ? tokenizer.idOf(candidate) : undefined;
    if (found !== undefined) return found;
  }
  misuse(`${where} does not say ${key}, and the tokenizer has no ${guesses.join(" or ") || "token for it"}.`, {
    hint: `Name a token of the vocabulary: ${flag} TOKEN (one that stands for nothing else).`,
  });
}
