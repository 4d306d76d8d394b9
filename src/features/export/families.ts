import type { Json } from "./checkpoint-source.js";

/** Families of checkpoints that one of our architectures can compute. */

export const SPECIAL_TOKENS = ["mask", "eos", "pad"] as const;
export type SpecialToken = (typeof SPECIAL_TOKENS)[number];
/** Special tokens that the user has set. */
export type ChosenTokens = Readonly<Partial<Record<SpecialToken, string | undefined>>>;

export interface Family {
  /** Name in the documentation. */
  readonly title: string;
  /** Class names in `architectures`, or `model_type`. */
  readonly names: readonly RegExp[];
  /** Keys that the family's class reads, with its own default where config.json lacks them. */
  readonly defaults: Json;
  /** Keys that change the computation, and must have one of these values. */
  readonly requires?: Readonly<Record<string, readonly unknown[]>>;
  /** Returns the keys of our config that the family fixes, or that it spells differently. */
  keys(raw: Json): Json;
  /** Candidates for special tokens that config.json does not set, in order of preference. */
  readonly tokens: Readonly<Record<SpecialToken, readonly string[]>>;
}

const BIDIRECTIONAL = { architecture: "masked_lm", attention: "bidirectional" };
/** transformers 5.2 and later compute a bidirectional mask where `is_causal` is false. */
const attentionOf = ({ is_causal: causal = true }: Json): Json =>
  causal ? { architecture: "refusion", attention: "causal" } : BIDIRECTIONAL;
const CHAT = { mask: ["<|mask|>"], eos: ["<|im_end|>"], pad: ["<|endoftext|>"] };

/** `attention_bias` of transformers: q, k, v and o. */
const attentionBias = (raw: Json): Json => {
  const biased = raw.attention_bias === true;
  return { qkv_bias: biased, o_bias: biased };
};

/** SmolLM3's layers without RoPE: those in its list, or every fourth. */
const withoutRope = ({
  no_rope_layers: layers,
  no_rope_layer_interval: every,
  num_hidden_layers: count,
}: Json): Json => ({
  no_rope_layers: layers ?? Array.from({ length: Number(count) }, (_, i) => ((i + 1) % Number(every) === 0 ? 0 : 1)),
});

/** Makes defaults of undefined for keys that have none. */
const keysOf = (names: string): Json =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, undefined]),
  );
/** Keys of every family, with the defaults that most have. */
const SHARED: Json = {
  ...keysOf("vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads"),
  ...keysOf("head_dim rope_scaling rope_parameters layer_types sliding_window is_causal"),
  ...{ max_position_embeddings: 32768, rms_norm_eps: 1e-6, rope_theta: 10000, tie_word_embeddings: false },
};
const QWEN2: Json = { ...SHARED, num_key_value_heads: 32, use_sliding_window: false };
const QWEN3: Json = { ...QWEN2, head_dim: 128, attention_bias: false };
const LLAMA: Json = { ...SHARED, max_position_embeddings: 2048, attention_bias: false };

/** Families that are causal where config.json says nothing else. */
const [qwen3, qwen2, llama]: readonly [Family, Family, Family] = [
  {
    title: "ReFusion, Qwen3",
    names: [/^qwen3$/i, /^Qwen3ForCausalLM$/, /refusion/i],
    defaults: QWEN3,
    keys: (raw) => ({ ...attentionOf(raw), qk_norm: true, ...attentionBias(raw) }),
    tokens: CHAT,
  },
  {
    title: "Qwen2",
    names: [/^qwen2$/i, /^Qwen2ForCausalLM$/],
    defaults: QWEN2,
    keys: (raw) => ({ ...attentionOf(raw), qk_norm: false, qkv_bias: true }),
    tokens: CHAT,
  },
  {
    title: "Llama (SmolLM2)",
    names: [/^llama$/i, /^LlamaForCausalLM$/],
    defaults: LLAMA,
    keys: (raw) => ({ ...attentionOf(raw), qk_norm: false, ...attentionBias(raw) }),
    tokens: { ...CHAT, eos: ["<|im_end|>", "<|eot_id|>", "</s>"] },
  },
];

/** Weights of a causal family with bidirectional attention; the checkpoint does not say that logits are shifted. */
const a2d = (base: Family, name: string): Family => ({
  ...base,
  title: "Tiny-A2D",
  names: [new RegExp(`^a2d-${name}$|^A2D${name}LMHeadModel$`, "i")],
  defaults: { ...base.defaults, block_size: undefined },
  keys: (raw) => ({ ...base.keys(raw), ...BIDIRECTIONAL, attention_block: raw.block_size }),
  tokens: CHAT,
});

/** Supported families; the first match is used. */
export const FAMILIES: readonly Family[] = [
  qwen3,
  qwen2,
  llama,
  {
    ...llama,
    title: "Mistral",
    names: [/^mistral$/i, /^MistralForCausalLM$/],
    defaults: { ...LLAMA, num_key_value_heads: 8, sliding_window: 4096, max_position_embeddings: 131072 },
    requires: { use_sliding_window: [undefined] },
  },
  {
    title: "SmolLM3",
    names: [/^smollm3$/i, /^SmolLM3ForCausalLM$/],
    defaults: {
      ...{ ...QWEN2, num_key_value_heads: 4, rope_theta: 2e6, tie_word_embeddings: true, attention_bias: false },
      ...{ no_rope_layers: undefined, no_rope_layer_interval: 4 },
    },
    keys: (raw) => ({ ...attentionOf(raw), qk_norm: false, ...attentionBias(raw), ...withoutRope(raw) }),
    tokens: CHAT,
  },
  a2d(qwen3, "qwen3"),
  a2d(qwen2, "qwen2"),
  a2d(llama, "llama"),
  {
    title: "SDAR",
    names: [/^sdar$/i, /^SDARForCausalLM$/],
    defaults: { ...QWEN3, block_size: 4 },
    keys: (raw) => ({ ...BIDIRECTIONAL, qk_norm: true, ...attentionBias(raw), attention_block: raw.block_size }),
    tokens: { ...CHAT, mask: ["<|MASK|>"] },
  },
  {
    title: "LLaDA",
    names: [/^llada$/i, /^LLaDAModelLM$/],
    defaults: {
      ...SHARED,
      ...keysOf("d_model n_layers n_heads n_kv_heads mlp_hidden_size embedding_size include_qkv_bias"),
      ...keysOf("multi_query_attention max_sequence_length alibi_bias_max attention_layer_norm_with_affine"),
      ...{ mlp_ratio: 4, weight_tying: true, rms_norm_eps: 1e-5 },
    },
    requires: {
      block_type: ["llama"],
      block_group_size: [1],
      activation_type: ["silu"],
      layer_norm_type: ["rms"],
      rope: [true],
      alibi: [false],
      include_bias: [false],
      attention_layer_norm: [false],
      input_emb_norm: [false],
      scale_logits: [false],
    },
    keys: (raw) => ({
      ...BIDIRECTIONAL,
      weight_names: "llada",
      qk_norm: false,
      qkv_bias: raw.include_qkv_bias === true,
      vocab_size: raw.embedding_size ?? raw.vocab_size,
      hidden_size: raw.d_model,
      intermediate_size: raw.mlp_hidden_size ?? Number(raw.mlp_ratio) * Number(raw.d_model),
      num_hidden_layers: raw.n_layers,
      num_attention_heads: raw.n_heads,
      num_key_value_heads: raw.n_kv_heads ?? (raw.multi_query_attention === true ? 1 : raw.n_heads),
      tie_word_embeddings: raw.weight_tying,
    }),
    tokens: { mask: ["<|mdm_mask|>"], eos: ["<|endoftext|>"], pad: ["<|endoftext|>"] },
  },
  {
    title: "Dream",
    names: [/^dream$/i, /^DreamModel$/],
    defaults: QWEN2,
    keys: () => ({ ...BIDIRECTIONAL, qk_norm: false, qkv_bias: true, shifted_logits: true }),
    tokens: { ...CHAT, eos: ["<|endoftext|>"] },
  },
];
