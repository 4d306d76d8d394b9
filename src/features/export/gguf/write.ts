import { closeSync, ftruncateSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { fail } from "../../../core/errors.js";
import { eosIds, type ModelConfig, readModelConfig } from "../../../nn/config.js";
import { type RopeScaling, ropeFrequencies, ropeScalingSchema } from "../../../nn/rope.js";
import { floatToFloat16 } from "../../../onnx/half.js";
import { sizeOf } from "../../../onnx/shapes.js";
import { cutAlike } from "../../../text/tokenizer-json.js";
import { floatsOf, type StoredMatrix } from "../../../weights/model-weights.js";
import { openCheckpoint } from "../checkpoint.js";
import { rounded } from "../forms.js";
import { CUTTINGS } from "../tokenizer-files.js";
import { BLOCK_PARTS, INTERLEAVED, TOKEN_TYPE, TOP_PARTS, transposedHeads } from "./names.js";

/** Values of a Q8_0 block. */
const BLOCK = 32;
/** Bytes that tensors are aligned to. */
const ALIGNMENT = 32;
/** Elements in memory at once. */
const CHUNK = 2 ** 22;

/** A tensor format of a file: its number (ggml_type), bytes of `values` values, and their encoding. */
interface Format {
  readonly type: number;
  readonly values: number;
  readonly bytes: number;
  encode(values: Float32Array): NodeJS.ArrayBufferView;
}

const FLOAT: Format = { type: 0, values: 1, bytes: 4, encode: (values) => values };
const FORMATS: Readonly<Record<string, Format>> = {
  none: FLOAT,
  fp16: { type: 1, values: 1, bytes: 2, encode: (values) => rounded(values, "float16") },
  bf16: { type: 30, values: 1, bytes: 2, encode: (values) => rounded(values, "bfloat16") },
  q8_0: { type: 8, values: BLOCK, bytes: 2 + BLOCK, encode: eightBits },
};

/** How a file keeps the weights. */
export const GGUF_FORMS = Object.keys(FORMATS);

/** Encodes Q8_0: blocks of 32 values, each a scale d = max |x| / 127 in float16 and codes round(x / d). */
function eightBits(values: Float32Array): Uint8Array {
  const out = new Int8Array((values.length / BLOCK) * (2 + BLOCK));
  const view = new DataView(out.buffer);
  for (let block = 0; block * BLOCK < values.length; block++) {
    const part = values.subarray(block * BLOCK, (block + 1) * BLOCK);
    const d = part.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127;
    const at = block * (2 + BLOCK);
    view.setUint16(at, floatToFloat16(Float32Array.of(d))[0] as number, true);
    for (let i = 0; i < BLOCK && d > 0; i++) out[at + 2 + i] = Math.round((part[i] as number) / d);
  }
  return new Uint8Array(out.buffer);
}

interface StoredTensor {
  readonly name: string;
  readonly matrix: StoredMatrix;
  readonly format: Format;
  readonly bytes: number;
}

/**
 * Writes a model directory as a GGUF file for llama.cpp (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
 * @returns its size in bytes. @throws UserError where llama.cpp has no such model.
 */
export async function writeGguf(dir: string, out: string, form: string): Promise<number> {
  const config = readModelConfig(dir) as ModelConfig & Record<string, unknown>;
  const kind = architectureOf(config, dir);
  const metadata = [...modelKeys(kind, config, basename(out, ".gguf")), ...tokenizerKeys(config, dir)];
  const tensors = [...tensorsOf(dir, kind, config, form), ...ropeFactors(config)];
  let offset = 0;
  const infos = tensors.flatMap(({ name, matrix: { shape }, format, bytes }) => {
    const at = offset;
    offset += aligned(bytes);
    return [text(name), u32(shape.length), ...[...shape].reverse().map(u64), u32(format.type), u64(at)];
  });
  const header = Buffer.concat([
    Buffer.from("GGUF"),
    ...[u32(3), u64(tensors.length), u64(metadata.length), ...metadata.flat(), ...infos],
  ]);
  const aside = `${out}.tmp-${process.pid}`;
  const file = openSync(aside, "wx");
  try {
    writeSync(file, header);
    let position = aligned(header.length);
    for (const { matrix, format, bytes } of tensors) {
      const size = sizeOf(matrix.shape);
      for (let begin = 0; begin < size; begin += CHUNK) {
        const data = format.encode(matrix.read(begin, Math.min(size, begin + CHUNK)));
        writeSync(file, data, 0, data.byteLength, position + (begin / format.values) * format.bytes);
      }
      position += aligned(bytes);
    }
    // the last tensor is padded, too
    ftruncateSync(file, position);
    renameSync(aside, out);
    return position;
  } finally {
    closeSync(file);
    rmSync(aside, { force: true });
  }
}

/** Returns llama.cpp's name of a model's architecture. @throws UserError where it has none that computes the same. */
function architectureOf(config: Readonly<Record<string, unknown>>, dir: string): string {
  const scaling = scalingOf(config);
  const isLlama = config.qk_norm === false && config.qkv_bias !== true;
  const odd = [
    ...(config.architecture === "refusion" && config.weight_names !== "llada" ? [] : ["architecture"]),
    ...(config.attention === "causal" ? [] : ["attention"]),
    ...["no_rope_layers", "shifted_logits", "o_bias"].filter((key) => Boolean(config[key])),
    // llama.cpp's Llama alone reads the factors of frequencies
    ...(scaling === undefined || (scaling.rope_type === "llama3" && isLlama) ? [] : ["rope_scaling"]),
  ];
  if (odd.length > 0)
    fail(`${dir} cannot be written as GGUF: its ${odd.join(", ")} has no counterpart in llama.cpp.`, {
      hint: "only causal models like Llama, Qwen2 and Qwen3 can",
    });
  return isLlama ? "llama" : config.qk_norm === false ? "qwen2" : "qwen3";
}

const scalingOf = ({ rope_scaling: scaling }: Readonly<Record<string, unknown>>): RopeScaling | undefined =>
  ropeScalingSchema.safeParse(scaling).data;

/** Returns `rope_freqs`: what llama.cpp divides each angle by, where Llama 3.1 stretches them. */
function ropeFactors(config: Readonly<Record<string, unknown>>): StoredTensor[] {
  const scaling = scalingOf(config);
  if (scaling === undefined) return [];
  const [plain, stretched] = [undefined, scaling].map(
    (by) => ropeFrequencies(Number(config.head_dim), Number(config.rope_theta), by).frequencies,
  );
  const factors = Float32Array.from(plain as number[], (angle, i) => angle / (stretched?.[i] as number));
  const matrix = floatsOf("float32", [factors.length], factors);
  return [{ name: "rope_freqs.weight", matrix, format: FLOAT, bytes: factors.byteLength }];
}

function modelKeys(kind: string, config: Readonly<Record<string, unknown>>, name: string): Buffer[][] {
  const number = (key: string, theirs: string): Buffer[] => pair(theirs, 4, u32(Number(config[key])));
  const float = (key: string, theirs: string): Buffer[] => pair(theirs, 6, f32(Number(config[key])));
  return [
    pair("general.architecture", 8, text(kind)),
    pair("general.name", 8, text(name)),
    // RoPE has no limit of its own
    pair(`${kind}.context_length`, 4, u32(Number(config.max_position_embeddings ?? 8192))),
    number("hidden_size", `${kind}.embedding_length`),
    number("num_hidden_layers", `${kind}.block_count`),
    number("intermediate_size", `${kind}.feed_forward_length`),
    number("num_attention_heads", `${kind}.attention.head_count`),
    number("num_key_value_heads", `${kind}.attention.head_count_kv`),
    number("head_dim", `${kind}.attention.key_length`),
    number("head_dim", `${kind}.attention.value_length`),
    number("head_dim", `${kind}.rope.dimension_count`),
    number("vocab_size", `${kind}.vocab_size`),
    float("rms_norm_eps", `${kind}.attention.layer_norm_rms_epsilon`),
    float("rope_theta", `${kind}.rope.freq_base`),
  ];
}

/** @throws UserError where llama.cpp does not know how the tokenizer cuts text. */
function tokenizerKeys(config: ModelConfig, dir: string): Buffer[][] {
  const path = join(dir, "tokenizer.json");
  const { model, added_tokens: added = [], ...rest } = JSON.parse(readFileSync(path, "utf8"));
  const [pre] =
    Object.entries(CUTTINGS).find(([, cutting]) => cutAlike(cutting.pre_tokenizer, rest.pre_tokenizer)) ?? [];
  if (model.type !== "BPE" || pre === undefined)
    fail(`${path} cannot be written as GGUF: llama.cpp has no name for how it cuts text.`, {
      hint: `Known: byte-level BPE that cuts as ${Object.keys(CUTTINGS).join(", ")}.`,
    });
  const tokens = Array.from({ length: config.vocab_size }, (_, id) => `[PAD${id}]`);
  const types = tokens.map((): number => TOKEN_TYPE.unused);
  const put = (id: number, token: string, type: number): void => {
    tokens[id] = token;
    types[id] = type;
  };
  for (const [token, id] of Object.entries<number>(model.vocab)) put(id, token, TOKEN_TYPE.normal);
  for (const { id, content, special } of added) put(id, content, TOKEN_TYPE[special ? "control" : "userDefined"]);
  const merges = (model.merges as (string | string[])[]).map((merge) => [merge].flat().join(" "));
  const id = (name: string, value: number | undefined): Buffer[][] =>
    value === undefined || value >= config.vocab_size ? [] : [pair(`tokenizer.ggml.${name}_token_id`, 4, u32(value))];
  return [
    pair("tokenizer.ggml.model", 8, text("gpt2")),
    pair("tokenizer.ggml.pre", 8, text(pre)),
    list("tokens", 8, tokens.map(text)),
    list("token_type", 5, types.map(u32)),
    list("merges", 8, merges.map(text)),
    ...id("eos", eosIds(config)[0]),
    ...id("padding", config.pad_token_id),
    ...id("mask", config.mask_token_id),
    pair("tokenizer.ggml.add_bos_token", 7, Buffer.of(0)),
  ];
}

/** Lists the tensors under GGUF's names; vectors stay float32. @throws UserError where a form does not fit a matrix. */
function tensorsOf(dir: string, kind: string, config: Readonly<Record<string, unknown>>, form: string): StoredTensor[] {
  const names = new Map([...Object.entries(BLOCK_PARTS), ...Object.entries(TOP_PARTS)].map(([ours, hf]) => [hf, ours]));
  return [...openCheckpoint(dir)].map(([weight, { shape, open }]) => {
    const [, layer, part = "", end] = /^(?:model\.layers\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(weight) ?? [];
    const name = `${layer === undefined ? "" : `blk.${layer}.`}${names.get(part) ?? fail(`${dir}: GGUF has no name for ${weight}.`)}.${end}`;
    const format = shape.length === 1 ? FLOAT : (FORMATS[form] as Format);
    const rotated = INTERLEAVED[kind] === true && /self_attn\.[qk]_proj/.test(part);
    if ((shape.at(-1) as number) % format.values !== 0)
      fail(`${weight} has rows of ${shape.at(-1)}, and ${form} takes blocks of ${format.values}.`, {
        hint: "give --quantize bf16",
      });
    const matrix = rotated ? transposedHeads(open(), config.head_dim as number, 2) : open();
    return { name, matrix, format, bytes: (sizeOf(shape) / format.values) * format.bytes };
  });
}

const aligned = (size: number): number => ALIGNMENT * Math.ceil(size / ALIGNMENT);

// files are little-endian, as the machines that this runs on
const u32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer);
const u64 = (value: number): Buffer => Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
const f32 = (value: number): Buffer => Buffer.from(Float32Array.of(value).buffer);

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

/** Makes a key and its value. @param type gguf_metadata_value_type. */
function pair(key: string, type: number, value: Buffer): Buffer[] {
  return [text(key), u32(type), value];
}

function list(name: string, type: number, values: readonly Buffer[]): Buffer[] {
  return pair(`tokenizer.ggml.${name}`, 9, Buffer.concat([u32(type), u64(values.length), ...values]));
}
