import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { exportModel } from "../../../src/features/export/export.js";
import { exportFile, writerOf } from "../../../src/features/export/model-writer.js";
import { readSafetensors } from "../../../src/weights/safetensors.js";
import { temporaryFolder } from "../../support/temporary.js";

describe("GGUF files", () => {
  const root = temporaryFolder("gguf");
  const at = (name: string): string => join(root, name);
  const tokens = { mask: "<mask>" };
  const read = (checkpoint: string, out: string) =>
    exportModel({ checkpoint: at(checkpoint), out: at(out), precision: "none", doubleQuant: false, tokens });
  const write = async (out: string, form: string): Promise<void> => {
    const writer = await writerOf(out, form);
    assert.ok(writer);
    const options = { checkpoint: at("model"), out: at(out), precision: "none", doubleQuant: false } as const;
    await exportFile(options, writer, form);
  };

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

  it("are refused in forms that a file or directory has not", async () => {
    await assert.rejects(writerOf("a.gguf", "nf4"), /--quantize nf4 is not for a\.gguf/);
    await assert.rejects(writerOf("a", "q8_0"), /--quantize q8_0 is not for a/);
  });
});
