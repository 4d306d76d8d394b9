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
  /** Keys that change the computation, and must have one of these values. */
  readonly requires?: Readonly<Record<string, readonly unknown[]>>;
  /** Returns the keys of our config that the family fixes, or that it spells differently. */
  keys(raw: Json): Json;
  /** Candidates for special tokens that config.json does not set, in order of preference. */
  readonly tokens: Readonly<Record<SpecialToken, readonly string[]>>;
}

const CAUSAL = { architecture: "refusion", attention: "causal" };
const BIDIRECTIONAL = { architecture: "masked_lm", attention: "bidirectional" };
const CHAT = { mask: ["<|mask|>"], eos: ["<|im_end|>"], pad: ["<|endoftext|>"] };

/** `attention_bias` of transformers: q, k, v and o. */
const attentionBias = (raw: Json): Json => {
  const biased = raw.attention_bias === true;
  return { qkv_bias: biased, o_bias: biased };
};

/** SmolLM3's layers without RoPE: those in its list, or every fourth. */
function withoutRope({
  no_rope_layers: layers,
  no_rope_layer_interval: interval,
  num_hidden_layers: count,
}: Json): Json {
  if (layers !== undefined && layers !== null) return { no_rope_layers: layers };
  const every = Number(interval ?? 4);
  return { no_rope_layers: Array.from({ length: Number(count) }, (_, i) => ((i + 1) % every === 0 ? 0 : 1)) };
}

/** Supported families; the first match is used. */
export const FAMILIES: readonly Family[] = [
  {
    title: "ReFusion, Qwen3",
    names: [/^qwen3$/i, /^Qwen3ForCausalLM$/, /refusion/i],
    keys: (raw) => ({ ...CAUSAL, qk_norm: true, ...attentionBias(raw) }),
    tokens: CHAT,
  },
  {
    title: "Qwen2",
    names: [/^qwen2$/i, /^Qwen2ForCausalLM$/],
    keys: () => ({ ...CAUSAL, qk_norm: false, qkv_bias: true }),
    tokens: CHAT,
  },
  {
    title: "Llama (SmolLM2), Mistral",
    names: [/^llama$/i, /^mistral$/i, /^(Llama|Mistral)ForCausalLM$/],
    keys: (raw) => ({ ...CAUSAL, qk_norm: false, ...attentionBias(raw) }),
    tokens: { ...CHAT, eos: ["<|im_end|>", "<|eot_id|>", "</s>"] },
  },
  {
    title: "SmolLM3",
    names: [/^smollm3$/i, /^SmolLM3ForCausalLM$/],
    keys: (raw) => ({
      ...CAUSAL,
      qk_norm: false,
      ...attentionBias(raw),
      ...withoutRope(raw),
      // the family's default, which saved configs omit
      tie_word_embeddings: raw.tie_word_embeddings ?? true,
    }),
    tokens: CHAT,
  },
  {
    // weights of a causal family with bidirectional attention; the checkpoint does not say that logits are shifted
    title: "Tiny-A2D",
    names: [/^a2d-(qwen3|qwen2|llama)$/, /^A2D(Qwen3|Qwen2|Llama)LMHeadModel$/],
    keys: (raw) => ({
      ...FAMILIES.find(({ names }) => names[0]?.test(String(raw.model_type).slice("a2d-".length)))?.keys(raw),
      ...BIDIRECTIONAL,
      attention_block: raw.block_size,
    }),
    tokens: CHAT,
  },
  {
    title: "SDAR",
    names: [/^sdar$/i, /^SDARForCausalLM$/],
    keys: (raw) => ({
      ...BIDIRECTIONAL,
      qk_norm: true,
      ...attentionBias(raw),
      // the family's default
      attention_block: raw.block_size ?? 4,
    }),
    tokens: { ...CHAT, mask: ["<|MASK|>"] },
  },
  {
    title: "LLaDA",
    names: [/^llada$/i, /^LLaDAModelLM$/],
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
    keys: () => ({ ...BIDIRECTIONAL, qk_norm: false, qkv_bias: true, shifted_logits: true }),
    tokens: { ...CHAT, eos: ["<|endoftext|>"] },
  },
];
