/** Names of a block's parts in GGUF, and in Hugging Face's checkpoints. */
export const BLOCK_PARTS: Readonly<Record<string, string>> = {
  attn_norm: "input_layernorm",
  attn_q: "self_attn.q_proj",
  attn_k: "self_attn.k_proj",
  attn_v: "self_attn.v_proj",
  attn_output: "self_attn.o_proj",
  attn_q_norm: "self_attn.q_norm",
  attn_k_norm: "self_attn.k_norm",
  ffn_norm: "post_attention_layernorm",
  ffn_gate: "mlp.gate_proj",
  ffn_up: "mlp.up_proj",
  ffn_down: "mlp.down_proj",
};
export const TOP_PARTS: Readonly<Record<string, string>> = {
  token_embd: "model.embed_tokens",
  output_norm: "model.norm",
  output: "lm_head",
};

/** `general.architecture` -> true if the converter interleaves the two halves of each head's rows in q and k. */
export const INTERLEAVED: Readonly<Record<string, boolean>> = { llama: true, qwen2: false, qwen3: false };

/** Values of `tokenizer.ggml.token_type`. */
export const TOKEN_TYPE = { normal: 1, control: 3, userDefined: 4, unused: 5 } as const;
