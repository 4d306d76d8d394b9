import { existsSync, statSync } from "node:fs";
import { fail, messageOf } from "../../../core/errors.js";
import { optional } from "../../../core/optional.js";
import { sizeOf } from "../../../onnx/shapes.js";
import type { StoredMatrix } from "../../../weights/model-weights.js";
import { readRange } from "../../../weights/safetensors.js";
import type { Checkpoint, CheckpointSource, CheckpointWeight, Json } from "../checkpoint-source.js";
import { BLOCK_FORMATS } from "../gguf/blocks.js";
import { BLOCK_PARTS, INTERLEAVED, TOKEN_TYPE, TOP_PARTS, transposedHeads } from "../gguf/names.js";
import { byteLevelBpeJson, CUTTINGS } from "../tokenizer-files.js";

/** Opens GGUF files. */
export const checkpoints: CheckpointSource = {
  takes: (source) => existsSync(source) && statSync(source).isFile(),
  open: openCheckpoint,
};

/** Opens a GGUF file as the checkpoint that llama.cpp's converter read. @throws UserError as `openGguf`. */
async function openCheckpoint(path: string): Promise<Checkpoint> {
  const { metadata, tensors } = await openGguf(path);
  const kind = String(metadata["general.architecture"]);
  const interleaved = INTERLEAVED[kind];
  if (interleaved === undefined)
    fail(`${path}: the architecture ${kind} is not read from GGUF (${Object.keys(INTERLEAVED).join(", ")} are).`, {
      hint: "Export the checkpoint in safetensors.",
    });
  const config = configOf(kind, metadata, path);
  const weights = new Map<string, CheckpointWeight>();
  for (const [name, tensor] of tensors) {
    const ours = nameOf(name);
    const rotated = interleaved && /self_attn\.[qk]_proj/.test(ours);
    const headDim = config.head_dim as number;
    const open = (): StoredMatrix => (rotated ? transposedHeads(tensor, headDim, headDim / 2) : tensor);
    weights.set(ours, { path, shape: tensor.shape, dtype: tensor.dtype, open });
  }
  const biased = (part: string): boolean => tensors.has(`blk.0.${part}.bias`);
  if (biased("attn_q") !== biased("attn_output") && kind !== "qwen2")
    fail(`${path}: q and o must both have biases, or neither.`);
  const ids = Object.entries({ mask: "mask", eos: "eos", pad: "padding" }).flatMap(([ours, theirs]) => {
    const id = metadata[`tokenizer.ggml.${theirs}_token_id`];
    return id === undefined ? [] : [[`${ours}_token_id`, id] as const];
  });
  return {
    where: path,
    config: {
      ...config,
      vocab_size: tensors.get("token_embd.weight")?.shape[0],
      tie_word_embeddings: !tensors.has("output.weight"),
      attention_bias: biased("attn_q"),
      ...Object.fromEntries(ids),
    },
    generationConfig: {},
    tokenizerConfig: {},
    tokenizer: ggufTokenizerJson(metadata, path),
    weights,
  };
}

/** Returns a weight's name in Hugging Face's checkpoints; unknown names are kept. */
function nameOf(name: string): string {
  const [, layer, part, kind] = /^(?:blk\.(\d+)\.)?(\w+)\.(weight|bias)$/.exec(name) ?? [];
  const theirs = (layer === undefined ? TOP_PARTS : BLOCK_PARTS)[part ?? ""];
  if (theirs === undefined) return name;
  return layer === undefined ? `${theirs}.${kind}` : `model.layers.${layer}.${theirs}.${kind}`;
}

/** Reads config.json's keys from the header. @throws UserError that names a missing or unsupported one. */
function configOf(kind: string, metadata: GgufMetadata, path: string): Json {
  const read = (key: string, otherwise?: number): number => {
    const value = metadata[`${kind}.${key}`] ?? otherwise;
    if (typeof value !== "number")
      fail(`${path}: ${kind}.${key} is ${value === undefined ? "missing" : String(value)}.`);
    // the decimal that the float32 was made from
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
 * Makes the text of a tokenizer.json from the header of a GGUF file.
 * @param where names the file in errors.
 * @throws UserError if the tokenizer is not a byte-level BPE, or has an unknown pre-tokenizer.
 */
function ggufTokenizerJson(metadata: Readonly<Record<string, unknown>>, where: string): string {
  const read = (key: string): unknown => metadata[`tokenizer.ggml.${key}`];
  const hint = "Export the checkpoint in safetensors, which comes with its tokenizer.json.";
  const [model, pre] = [read("model"), read("pre")];
  if (model !== "gpt2")
    fail(`${where}: its tokenizer is ${String(model)}, and only byte-level BPE (gpt2) is read.`, { hint });
  const cutting = CUTTINGS[String(pre)];
  if (cutting === undefined)
    fail(
      `${where}: its tokenizer cuts text as ${String(pre)} does, which is not known (${Object.keys(CUTTINGS).join(", ")}).`,
      { hint },
    );
  const lists = [read("tokens"), read("token_type"), read("merges")];
  const [tokens, types, merges] = lists as [string[], number[], string[]];
  if (!lists.every(Array.isArray) || tokens.length !== types.length)
    fail(`${where}: its header lacks the tokens, their types or the merges.`, { hint });
  const vocab: Record<string, number> = {};
  const addedTokens: object[] = [];
  tokens.forEach((content, id) => {
    const type = types[id];
    // every id has an entry, from whose number the tokenizers library counts on
    vocab[content] = id;
    if (type === TOKEN_TYPE.control || type === TOKEN_TYPE.userDefined) {
      const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false };
      addedTokens.push({ id, content, ...plain, special: type === TOKEN_TYPE.control });
    }
  });
  const pairs = merges.map((merge) => merge.split(" ") as [string, string]);
  return byteLevelBpeJson({ cutting, addedTokens, vocab, merges: pairs });
}

/** The values of a GGUF file's header, by key (`llama.embedding_length`). */
type GgufMetadata = Readonly<Record<string, unknown>>;

/**
 * Opens a GGUF file (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): reads the header; tensors are decoded
 * in pieces later.
 * @returns tensors in the order of the file, with shapes [out, in] as in PyTorch.
 * @throws UserError that names the file if it is not GGUF, is truncated or a part, or has unsupported tensors.
 */
async function openGguf(path: string): Promise<{ metadata: GgufMetadata; tensors: Map<string, StoredMatrix> }> {
  const load = () => import("@huggingface/gguf");
  const { gguf, GGMLQuantizationType } = await optional("GGUF files need", "@huggingface/gguf", load);
  const refuse: (why: string, hint?: string) => never = (why, hint = "Copy or download the file again.") =>
    fail(`${path} cannot be read as GGUF: ${why}`, { hint });
  const file = await gguf(path, { allowLocalFile: true }).catch((error) => refuse(messageOf(error)));
  const metadata = file.metadata as unknown as GgufMetadata;
  if (Number(metadata["split.count"] ?? 1) > 1)
    refuse("it is one of several parts", "Join them with llama.cpp's gguf-split --merge.");
  if (!file.littleEndian) refuse("its numbers are big-endian", "Use the little-endian file, which is usual.");
  const { size } = statSync(path);
  const tensors = new Map<string, StoredMatrix>();
  for (const { name, shape: reversed, dtype, offset } of file.tensorInfos) {
    const format = BLOCK_FORMATS[dtype];
    if (format === undefined) {
      const known = Object.values(BLOCK_FORMATS).map((form) => form.name);
      refuse(`${name} is ${GGMLQuantizationType[dtype] ?? `of type ${dtype}`}`, `Use a file in ${known.join(", ")}.`);
    }
    const shape = reversed.map(Number).reverse();
    const { values, bytes } = format;
    const begin = Number(file.tensorDataOffset) + Number(offset);
    if ((shape.at(-1) ?? 0) % values !== 0) refuse(`the rows of ${name} are not made of blocks of ${values}`);
    if (begin + (sizeOf(shape) / values) * bytes > size) refuse(`it is cut off: ${name} ends behind its end`);
    tensors.set(name, {
      shape,
      dtype: format.dtype,
      read(from, to) {
        // requested pieces need not be whole blocks
        const [first, last] = [Math.floor(from / values), Math.ceil(to / values)];
        const decoded = format.decode(new Uint8Array(readRange(path, begin + first * bytes, (last - first) * bytes)));
        return decoded.subarray(from - first * values, to - first * values);
      },
    });
  }
  return { metadata, tensors };
}
