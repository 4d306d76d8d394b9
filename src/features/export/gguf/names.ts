import type { StoredMatrix } from "../../../weights/model-weights.js";
import { rowsOf } from "../rows.js";

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

/**
 * Transposes each head's rows [headDim / columns, columns] of q or k. RoPE rotates neighbours in llama.cpp's Llama, and
 * halves in Hugging Face's: 2 columns make the former of the latter (`LlamaModel.permute` of its converter),
 * headDim / 2 columns the latter again.
 */
export function transposedHeads(stored: StoredMatrix, headDim: number, columns: number): StoredMatrix {
  const rows = Array.from({ length: stored.shape[0] as number }, (_, row) => {
    const at = row % headDim;
    return row - at + (at % columns) * (headDim / columns) + Math.floor(at / columns);
  });
  return rowsOf(stored, rows);
}

/** Values of `tokenizer.ggml.token_type`. */
export const TOKEN_TYPE = { normal: 1, control: 3, userDefined: 4, unused: 5 } as const;
