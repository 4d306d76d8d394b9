import assert from "node:assert/strict";
import { copyFileSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { exportTo } from "../../../src/features/export/export.js";
import { ropeFrequencies, ropeScalingSchema } from "../../../src/nn/rope.js";
import { readSafetensors } from "../../../src/weights/safetensors.js";
import { temporaryFolder } from "../../support/temporary.js";
import { exported } from "./exported.js";

describe("GGUF files", () => {
  const root = temporaryFolder("gguf");
  const at = (name: string): string => join(root, name);
  const read = (checkpoint: string, out: string) =>
    exported(at(checkpoint), { out: at(out), tokens: { mask: "<mask>" } });
  const write = (out: string, form: string, checkpoint = at("model")) =>
    exportTo({ checkpoint, out: at(out), doubleQuant: false }, form);

  it("are written as they are read: weights, q and k in llama.cpp's order, tokenizer and config", async () => {
    // llama.cpp's converter made this file
    copyFileSync(join("test/golden/families", "llama.gguf"), at("llama.gguf"));
    await read("llama.gguf", "model");
    await write("again.gguf", "none");
    await read("again.gguf", "again");
    for (const file of ["model.safetensors", "tokenizer.json", "config.json"])
      assert.ok(readFileSync(join(at("again"), file)).equals(readFileSync(join(at("model"), file))), file);
    await assert.rejects(write("again.gguf", "none"), /exists already/);
  });

  it("hold 8-bit codes within half a step of each block of 32", async () => {
    await write("eight.gguf", "q8_0");
    await read("eight.gguf", "eight");
    const exact = readSafetensors(join(at("model"), "model.safetensors"));
    for (const [name, { data, shape }] of readSafetensors(join(at("eight"), "model.safetensors"))) {
      const whole = exact.get(name)?.data as Float32Array;
      for (let block = 0; block < whole.length; block += 32) {
        const part = whole.subarray(block, block + 32);
        const step = Math.max(...part.map(Math.abs)) / 127;
        // the scale is rounded to float16
        const most = shape.length === 1 ? 0 : step * (0.5 + 127 / 2048);
        for (const [i, x] of part.entries()) assert.ok(Math.abs((data[block + i] as number) - x) <= most, name);
      }
    }
  });

  it("take the tokenizers of Llama 3.1, SmolLM2 and Qwen2 as the library saves them, and Llama 3.1's angles", async () => {
    const cut = (digits: string): object => ({
      type: "Split",
      pattern: {
        Regex: `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`,
      },
      behavior: "Isolated",
      invert: false,
    });
    const bytes = (use_regex: boolean) => {
      return { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex };
    };
    const { gguf } = await import("@huggingface/gguf");
    for (const [pre, pretokenizers] of [
      ["llama-bpe", [cut("\\p{N}{1,3}"), bytes(false)]],
      ["qwen2", [cut("\\p{N}"), bytes(false)]],
      ["smollm", [{ type: "Digits", individual_digits: true }, bytes(true)]],
    ] as const) {
      const checkpoint = at(`${pre}-checkpoint`);
      cpSync("test/golden/families/llama-llama3", checkpoint, { recursive: true });
      const tokenizer = JSON.parse(readFileSync(join(at("model"), "tokenizer.json"), "utf8"));
      const few = Object.entries<number>(tokenizer.model.vocab).filter(([, id]) => id < 48);
      const model = { ...tokenizer.model, vocab: Object.fromEntries(few), merges: [] };
      const json = { ...tokenizer, model, pre_tokenizer: { type: "Sequence", pretokenizers }, added_tokens: [] };
      writeFileSync(join(checkpoint, "tokenizer.json"), JSON.stringify(json));
      await write(`${pre}.gguf`, "none", (await exported(checkpoint)).dir);
      const path = at(`${pre}.gguf`);
      const { metadata, tensorInfos, tensorDataOffset } = await gguf(path, { allowLocalFile: true });
      assert.equal((metadata as Record<string, unknown>)["tokenizer.ggml.pre"], pre);
      const factors = tensorInfos.find(({ name }) => name === "rope_freqs.weight");
      const begin = Number(tensorDataOffset) + Number(factors?.offset);
      const written = [...new Float32Array(readFileSync(path).buffer.slice(begin, begin + 32))];
      const factor = { factor: 4, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 16 };
      const scaling = { rope_type: "llama3", ...factor };
      // transformers' rule: factor 4 below low_freq_factor turns in the 16 positions, 1 above high_freq_factor
      assert.deepEqual([written.length, written.at(-1), written.every((x) => x >= 1 && x <= 4)], [8, 4, true]);
      const { frequencies } = ropeFrequencies(16, 5000, ropeScalingSchema.parse(scaling));
      for (const [i, x] of written.entries())
        assert.ok(Math.abs(5000 ** (-i / 8) / x / (frequencies[i] as number) - 1) < 1e-6);
    }
  });

  it("are refused in forms that a file or directory has not", async () => {
    await assert.rejects(write("a.gguf", "nf4"), /--quantize nf4 is not for .*a\.gguf/);
    await assert.rejects(write("a", "q8_0"), /--quantize q8_0 is not for .*a\./);
  });
});
