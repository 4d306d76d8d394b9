import { existsSync, statSync } from "node:fs";
import { fail } from "../../../core/errors.js";
import type { CheckpointWeight } from "../../../weights/checkpoint.js";
import type { Checkpoint, CheckpointSource, Json } from "../../../weights/checkpoint-source.js";
import type { StoredMatrix } from "../../../weights/model-weights.js";
import { type GgufMetadata, openGguf } from "../gguf.js";
import { ggufTokenizerJson } from "../tokenizer-gguf.js";

/** `general.architecture` -> whether the converter has interleaved the two halves of each head's rows in q and k. */
const ARCHITECTURES: Readonly<Record<string, { readonly interleaved: boolean }>> = {
  llama: { interleaved: true },
  qwen2: { interleaved: false },
  qwen3: { interleaved: false },
};

/** GGUF's names of the parts of a block, and Hugging Face's. */
const BLOCK_PARTS: Readonly<Record<string, string>> = {
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
const TOP_PARTS: Readonly<Record<string, string>> = {
  token_embd: "model.embed_tokens",
  output_norm: "model.norm",
  output: "lm_head",
};

/** A GGUF file. */
export const checkpoints: CheckpointSource = {
  takes: (source) => existsSync(source) && statSync(source).isFile(),
  open: openGgufCheckpoint,
};

/** Opens a GGUF file as the checkpoint that llama.cpp's converter made it from. @throws UserError as `openGguf`. */
export async function openGgufCheckpoint(path: string): Promise<Checkpoint> {
  const { metadata, tensors } = await openGguf(path);
  const kind = String(metadata["general.architecture"]);
  const architecture = ARCHITECTURES[kind];
  if (architecture === undefined)
    fail(`${path}: the architecture ${kind} is not read from GGUF (${Object.keys(ARCHITECTURES).join(", ")} are).`, {
      hint: "Export the checkpoint in safetensors.",
    });
  const config = configOf(kind, metadata, path);
  const weights = new Map<string, CheckpointWeight>();
  for (const [name, tensor] of tensors) {
    const ours = nameOf(name);
    const rotated = architecture.interleaved && /self_attn\.[qk]_proj/.test(ours);
    const open = (): StoredMatrix => (rotated ? deinterleaved(tensor, config.head_dim as number) : tensor);
    weights.set(ours, { path, shape: tensor.shape, dtype: tensor.dtype, open });
  }
  const embedding = tensors.get("token_embd.weight");
  const biased = (part: string): boolean => tensors.has(`blk.0.${part}.bias`);
  if (biased("attn_q") !== biased("attn_output") && kind !== "qwen2")
    fail(`${path}: q and o must both have biases, or neither.`);
  const idOf = (token: string): Json => {
    const id = metadata[`tokenizer.ggml.${token}_token_id`];
    return id === undefined ? {} : { [`${token === "padding" ? "pad" : token}_token_id`]: id };
  };
  return {
    where: path,
    config: {
      ...config,
      vocab_size: embedding?.shape[0],
      tie_word_embeddings: !tensors.has("output.weight"),
      attention_bias: biased("attn_q"),
      ...idOf("mask"),
      ...idOf("eos"),
      ...idOf("padding"),
    },
    generationConfig: {},
    tokenizerConfig: {},
    tokenizer: ggufTokenizerJson(metadata, path),
    weights,
  };
}

/** A weight's name in Hugging Face's checkpoints; what has none there keeps its own. */
function nameOf(name: string): string {
  const [, layer, part, kind] = /^(?:blk\.(\d+)\.)?(\w+)\.(weight|bias)$/.exec(name) ?? [];
  const theirs = (layer === undefined ? TOP_PARTS : BLOCK_PARTS)[part ?? ""];
  if (theirs === undefined) return name;
  return layer === undefined ? `${theirs}.${kind}` : `model.layers.${layer}.${theirs}.${kind}`;
}

/** The keys of config.json that the header says. @throws UserError naming one that is missing, or computes otherwise. */
function configOf(kind: string, metadata: GgufMetadata, path: string): Json {
  const read = (key: string, otherwise?: number): number => {
    const value = metadata[`${kind}.${key}`] ?? otherwise;
    if (typeof value !== "number")
      fail(`${path}: ${kind}.${key} is ${value === undefined ? "missing" : String(value)}.`);
    // a float32 as the decimal that it was
    return Number(value.toPrecision(7));
  };
  const scaling = metadata[`${kind}.rope.scaling.type`];
  if (scaling !== undefined && scaling !== "none")
    fail(`${path}: ${kind}.rope.scaling.type is ${String(scaling)}, which is not supported.`);
  const [hidden, heads] = [read("embedding_length"), read("attention.head_count")];
  const headDim = read("attention.key_length", hidden / heads);
  for (const key of ["attention.value_length", "rope.dimension_count"]) {
    if (read(key, headDim) !== headDim)
      fail(`${path}: ${kind}.${key} is ${read(key)}, which is not supported (expected ${headDim}).`);
  }
  return {
    model_type: kind,
    hidden_size: hidden,
    num_hidden_layers: read("block_count"),
    num_attention_heads: heads,
    num_key_value_heads: read("attention.head_count_kv", heads),
    head_dim: headDim,
    intermediate_size: read("feed_forward_length"),
    rms_norm_eps: read("attention.layer_norm_rms_epsilon"),
    rope_theta: read("rope.freq_base", 10000),
  };
}

/**
 * Undoes what llama.cpp's converter does to q and k of Llama (`LlamaModel.permute`): row 2 j + part of a head is row
 * part * headDim / 2 + j in Hugging Face's order, as one rotates neighbours and the other halves.
 */
function deinterleaved(stored: StoredMatrix, headDim: number): StoredMatrix {
  const columns = stored.shape.length === 1 ? 1 : (stored.shape[1] as number);
  return {
    ...stored,
    read(begin, end) {
      const out = new Float32Array(end - begin);
      for (let at = begin; at < end; ) {
        const row = Math.floor(at / columns);
        const next = Math.min(end, (row + 1) * columns);
        const within = row % headDim;
        const [part, j] = [Math.floor(within / (headDim / 2)), within % (headDim / 2)];
        const shift = (row - within + 2 * j + part - row) * columns;
        out.set(stored.read(at + shift, next + shift), at - begin);
        at = next;
      }
      return out;
    },
  };
}
