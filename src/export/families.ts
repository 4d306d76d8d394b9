/** Families of checkpoints whose computation one of our architectures does, as they name themselves. */

export type Json = Readonly<Record<string, unknown>>;

export const SPECIAL_TOKENS = ["mask", "eos", "pad"] as const;
export type SpecialToken = (typeof SPECIAL_TOKENS)[number];

export interface Family {
  /** As the documentation calls it. */
  readonly title: string;
  /** Class names in `architectures`, or `model_type`. */
  readonly names: readonly RegExp[];
  /** Keys of our config.json that the family fixes, or says in its own way. */
  keys(raw: Json): Json;
  /** Tokens that are tried, in this order, for what config.json leaves open. */
  readonly tokens: Readonly<Record<SpecialToken, readonly string[]>>;
}

const CAUSAL = { architecture: "refusion", attention: "causal" };
const CHAT = { eos: ["<|im_end|>"], pad: ["<|endoftext|>"] };

/** `attention_bias` of transformers: q, k, v and o. */
const attentionBias = (raw: Json): Json => {
  const biased = raw.attention_bias === true;
  return { qkv_bias: biased, o_bias: biased };
};

/** The first that fits is taken. */
export const FAMILIES: readonly Family[] = [
  {
    title: "ReFusion and Qwen3",
    names: [/^qwen3$/i, /^Qwen3ForCausalLM$/, /refusion/i],
    keys: (raw) => ({ ...CAUSAL, qk_norm: true, ...attentionBias(raw) }),
    tokens: { mask: ["<|mask|>"], ...CHAT },
  },
  {
    title: "Llama (SmolLM2)",
    names: [/^llama$/i, /^LlamaForCausalLM$/],
    keys: (raw) => ({ ...CAUSAL, qk_norm: false, ...attentionBias(raw) }),
    tokens: { mask: ["<|mask|>"], eos: ["<|im_end|>", "<|eot_id|>"], pad: ["<|endoftext|>"] },
  },
];
