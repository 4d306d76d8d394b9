import { copyFileSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "../bench/support.mjs";
import { ROOT } from "../lib/setup.mjs";

/** Bytes of a pattern that is drawn once and written repeatedly: time and memory depend on shapes, not on values. */
const PATTERN = 2 ** 22;

/** Builds config.json for a shape. The special tokens are the last ids of the vocabulary. */
export function configOf(s, quantize) {
  return {
    architecture: "refusion",
    attention: "causal",
    vocab_size: s.vocab,
    hidden_size: s.hidden,
    mask_token_id: s.vocab - 1,
    eos_token_id: s.vocab - 2,
    pad_token_id: s.vocab - 3,
    num_hidden_layers: s.layers,
    num_attention_heads: s.heads,
    num_key_value_heads: s["kv-heads"],
    head_dim: s["head-dim"],
    intermediate_size: s.ffn,
    rms_norm_eps: 1e-6,
    rope_theta: 1e6,
    tie_word_embeddings: false,
    dtype: quantize === "none" ? "float32" : quantize === "fp16" ? "float16" : "bfloat16",
  };
}

/**
 * Writes a model directory with random weights in a format (nf4, bf16, fp16, none), a few megabytes at a time.
 * @param sparse leaves the weights as holes in the file, which read as zeros.
 * @returns the size of the weights in bytes.
 */
export async function writeRandomModel(dir, s, quantize, { seed = 0, sparse = false } = {}) {
  const { architectureOf } = await load("nn/architecture.js");
  const { partsOf, nf4Part, encodeState } = await load("weights/precision.js");
  const { formOf } = await load("features/export/forms.js");
  const { SafetensorsWriter } = await load("weights/safetensors-write.js");
  const { NF4_CODE } = await load("onnx/nf4.js");
  const { floatToBfloat16, floatToFloat16 } = await load("onnx/half.js");
  const { writeModelGraph, WEIGHTS_FILE } = await load("nn/model.js");
  const { Rng } = await load("core/rng.js");
  const config = configOf(s, quantize);
  const rng = Rng.named(seed, "gpu-check");
  const floats = Float32Array.from({ length: PATTERN / 4 }, () => rng.normal());
  const codes = Uint8Array.from({ length: PATTERN }, () => rng.int(256));
  const convert = { float32: (x) => x, bfloat16: floatToBfloat16, float16: floatToFloat16 };

  mkdirSync(dir, { recursive: true });
  const forms = new Map();
  for (const [name, { shape, init }] of (await architectureOf(config)).weights(config))
    forms.set(name, { shape, init, form: formOf(name, shape, "bfloat16", quantize, false) });
  const specs = new Map([...forms].flatMap(([name, { shape, form }]) => [...partsOf(name, shape, form)]));
  const writer = new SafetensorsWriter(join(dir, WEIGHTS_FILE), specs, { format: "pt" });
  const repeat = (name, bytes, data) => {
    if (sparse) return;
    const pattern = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    for (let at = 0; at < bytes; at += pattern.length)
      writer.write(name, at, pattern.subarray(0, Math.min(pattern.length, bytes - at)));
  };
  try {
    for (const [name, { shape, init, form }] of forms) {
      const size = shape.reduce((a, d) => a * d, 1);
      const std = init.fill === undefined ? init.std : undefined;
      if (form === "nf4") {
        const absmax = new Float32Array(size / 64).fill(2.5 * std); // about the largest of 64 normal numbers
        repeat(nf4Part.codes(name), size / 2, codes);
        repeat(nf4Part.absmax(name), absmax.byteLength, absmax);
        writer.write(nf4Part.map(name), 0, NF4_CODE);
        writer.write(nf4Part.state(name), 0, encodeState({ shape, offset: undefined }));
        continue;
      }
      const values = std === undefined ? new Float32Array(size).fill(init.fill) : floats.map((x) => x * std);
      const data = convert[form](values);
      repeat(name, size * data.BYTES_PER_ELEMENT, data);
    }
    writer.finish();
    if (sparse) truncateSync(join(dir, WEIGHTS_FILE), writer.size);
  } catch (error) {
    writer.abort();
    throw error;
  }
  writeFileSync(join(dir, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
  // any tokenizer serves, since prompts are random ids
  copyFileSync(join(ROOT, "models", "tiny-refusion", "tokenizer.json"), join(dir, "tokenizer.json"));
  await writeModelGraph(dir, config);
  return writer.size;
}
