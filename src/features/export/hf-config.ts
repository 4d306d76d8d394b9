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
  attention_bias: [false],
  mlp_bias: [false],
  rope_interleaved: [false],
  partial_rotary_factor: [1],
  use_mrope: [false],
  layer_norm_with_affine: [true],
  bias_for_layer_norm: [false],
  rope_full_precision: [true],
  is_encoder_decoder: [false],
  add_cross_attention: [false],
  use_sliding_window: [false],
};

/** Names of keys that affect only training, generation, memory, speed or other heads. */
const HARMLESS = [
  /^_|_token_id$|dropout|_version$|^init(ializer)?_|^unsloth_|^output_(attentions|hidden_states|scores|logits)$/,
  new RegExp(
    `^(${`architectures|model_type|auto_map|dtype|torch_dtype|precision|use_cache|use_bfloat16|pretraining_tp|name_or_path
    |chunk_size_feed_forward|return_dict|return_dict_in_generate|torchscript|id2label|label2id|num_labels|problem_type
    |finetuning_task|task_specific_params|tokenizer_class|prefix|is_decoder|is_llama_config|tf_legacy_loss
    |cache_implementation|gradient_checkpointing|quantization_config|transformers\\.js_config|train_max_sequence_length
    |max_length|min_length|do_sample|early_stopping|num_beams|num_beam_groups|diversity_penalty|temperature|top_k|top_p
    |typical_p|repetition_penalty|length_penalty|no_repeat_ngram_size|encoder_no_repeat_ngram_size|bad_words_ids
    |num_return_sequences|remove_invalid_values|exponential_decay_length_penalty
    |suppress_tokens|begin_suppress_tokens|max_new_tokens|flash_attention|fuse_cross_entropy|max_window_layers
    |debug|ep_size|micro_forward|skip_checkpoint`.replace(/\s+/g, "")})$`,
  ),
];

/** The way for a checkpoint that is not read. */
const AS_GRAPH = "Bring the model as a graph: torch.onnx exports it (docs/model.md, Bring your own graph).";

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
    hint: `Supported: ${[...new Set(FAMILIES.map(({ title }) => title))].join(", ")}, and config.json files that name an \`architecture\` of docs/model.md. ${AS_GRAPH}`,
  });
}

/** Translates the family's keys to ours; a different computation is refused. */
function normalised(stated: Json, family: Family, path: string): Json {
  const raw: Json = { ...family.defaults, ...stated };
  const own = family.keys(raw);
  checkComputation(raw, own, family, path);
  const { rope_theta: theta } = { ...(raw.rope_scaling as Json), ...(raw.rope_parameters as Json) };
  const heads = Number(own.num_attention_heads ?? raw.num_attention_heads);
  const joined: Json = { ...raw, ...own };
  return {
    ...joined,
    rope_theta: theta ?? raw.rope_theta,
    rope_scaling: ropeScaling(raw, path),
    longest: longestText(raw),
    head_dim: joined.head_dim ?? Number(joined.hidden_size) / heads,
    num_key_value_heads: joined.num_key_value_heads ?? heads,
  };
}

function unsupported(path: string, key: string, value: unknown, expected: unknown): never {
  fail(`${path}: ${key} is ${JSON.stringify(value) ?? "missing"}, which is not supported (expected ${expected}).`, {
    hint: AS_GRAPH,
  });
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

/** @throws UserError that names a key and its value, if our graph would ignore it, or if the key is not known. */
function checkComputation(raw: Json, own: Json, family: Family, path: string): void {
  const check = (key: string, values: readonly unknown[]): void => {
    if (!values.includes(raw[key]))
      unsupported(path, key, raw[key], values.map((v) => JSON.stringify(v) ?? "none").join(" or "));
  };
  for (const [key, values] of Object.entries({ ...REQUIRED, is_causal: [own.attention === "causal"] }))
    if (!isNone(raw[key]) && (key === "is_causal" || !Object.hasOwn(family.defaults, key))) check(key, values);
  for (const [key, values] of Object.entries(family.requires ?? {})) check(key, values);
  const { layer_types: layers, sliding_window: window } = raw;
  const kinds = ["full_attention", ...(hasWindow(raw) ? ["sliding_attention"] : [])];
  if (Array.isArray(layers) && layers.some((kind) => !kinds.includes(kind)))
    unsupported(path, "layer_types", [...new Set(layers)], `${kinds.join(" or ")} everywhere`);
  if (!isNone(window) && !hasWindow(raw) && raw.use_sliding_window !== false)
    unsupported(path, "sliding_window", window, "a number of tokens");
  const known = new Set(Object.keys({ ...family.defaults, ...family.requires, ...REQUIRED }));
  const odd = Object.entries(raw).find(
    ([key, value]) =>
      !isNone(value) && !known.has(key) && own[key] !== value && !HARMLESS.some((pattern) => pattern.test(key)),
  );
  if (odd !== undefined)
    fail(`${path}: the key ${odd[0]} (${JSON.stringify(odd[1])}) is not known, so it may change the computation.`, {
      hint: `Remove it from config.json if the checkpoint's own code computes nothing else by it. Otherwise: ${AS_GRAPH}`,
    });
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
    if (id === undefined)
      misuse(`${flag} "${chosen}" is no token of ${where}.`, { hint: "Name a token of its vocabulary." });
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
