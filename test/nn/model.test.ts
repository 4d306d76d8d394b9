import assert from "node:assert/strict";
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, it } from "node:test";
import { loadModel, modelHash, saveModel, WEIGHTS_FILE } from "../../src/nn/model.js";
import { writeModelFile } from "../../src/onnx/format/proto.js";
import { isExternal } from "../../src/onnx/types.js";
import { readSafetensors } from "../../src/weights/safetensors.js";
import { freshWeights, letters, MICRO, microModel } from "../support/micro-model.js";
import { userError } from "../support/user-error.js";

describe("model directory", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await microModel();
  });

  const setConfig = (changes: object): void =>
    writeFileSync(join(dir, "config.json"), JSON.stringify({ ...MICRO, ...changes }));
  const refuses = (message: RegExp): Promise<void> => assert.rejects(loadModel(dir), userError(message));

  it("comes back as it was saved", async () => {
    const model = await loadModel(dir);
    assert.equal(model.dir, dir);
    assert.deepEqual(model.config, MICRO);
    assert.equal(model.tokenizer?.vocabSize, 10);
    const inputs = model.graph.inputs.map(({ name, dtype, shape }) => `${name} ${dtype} [${shape}]`);
    assert.deepEqual(inputs, ["input_ids int64 [B,N]", "position_ids int64 [B,N]", "attention_bias float32 [B,1,N,N]"]);
    const actual = model.graph.outputs.map(({ name, shape }) => [name, shape]);
    assert.deepEqual(actual, [["logits", ["B", "N", 16]]]);
  });

  it("keeps weights in one safetensors file, which the graph points into", async () => {
    const weights = await freshWeights();
    const stored = readSafetensors(join(dir, WEIGHTS_FILE));
    assert.deepEqual([...stored.keys()].sort(), [...weights.keys()].sort());
    const { graph } = await loadModel(dir);
    const bytes = readFileSync(join(dir, WEIGHTS_FILE));
    for (const [name, { shape, data }] of weights) {
      assert.deepEqual(stored.get(name)?.data, data, name);
      const initializer = graph.initializers.get(name);
      assert.ok(initializer !== undefined && isExternal(initializer.data), name);
      assert.deepEqual(initializer.value.shape, shape);
      const { file, offset, length } = initializer.data;
      assert.equal(file, WEIGHTS_FILE);
      assert.deepEqual(new Float32Array(new Uint8Array(bytes.subarray(offset, offset + length)).buffer), data, name);
    }
  });

  it("ties the head to the embedding where the config says so", async () => {
    const config = { ...MICRO, tie_word_embeddings: true };
    await saveModel(dir, config, await freshWeights(config), letters(10));
    const { graph } = await loadModel(dir);
    assert.ok(!graph.initializers.has("lm_head.weight"));
  });

  it("has a hash that changes with any of its files", async () => {
    const before = await modelHash(dir);
    assert.equal(await modelHash(dir), before);
    assert.match(before, /^[0-9a-f]{32}$/);
    setConfig({ rope_theta: 5000 });
    assert.notEqual(await modelHash(dir), before);
  });

  it("refuses a directory that is not there", async () => {
    await assert.rejects(loadModel(join(dir, "none")), userError(/There is no model directory .*none/));
  });

  for (const file of ["config.json", "tokenizer.json", "model.onnx"]) {
    it(`refuses a directory without ${file}`, async () => {
      rmSync(join(dir, file));
      await refuses(new RegExp(`lacks ${file}`));
    });
  }

  it("names the command that makes a model directory of a checkpoint", async () => {
    rmSync(join(dir, "model.onnx"));
    await assert.rejects(loadModel(dir), { hint: /refusion-train export --checkpoint \S+ --out \S+/ });
  });

  it("refuses missing and truncated weights", async () => {
    truncateSync(join(dir, WEIGHTS_FILE), 1000);
    await refuses(/model\.safetensors have 1000 bytes, expected at least \d+/);
    rmSync(join(dir, WEIGHTS_FILE));
    await refuses(/its weights .*model\.safetensors are missing/);
  });

  it("refuses a tokenizer that is too large", async () => {
    const added_tokens = Array.from({ length: 7 }, (_, i) => ({ id: 10 + i, content: `<extra ${i}>` }));
    writeFileSync(join(dir, "tokenizer.json"), JSON.stringify({ ...JSON.parse(letters(10)), added_tokens }));
    await refuses(/has 17 tokens, its config\.json only vocab_size 16/);
  });

  it("refuses one id for mask and end", async () => {
    setConfig({ mask_token_id: 0, eos_token_id: 0, pad_token_id: 0 });
    await refuses(/mask_token_id and eos_token_id are both 0/);
  });

  for (const key of ["mask_token_id", "eos_token_id", "pad_token_id"] as const) {
    it(`refuses a ${key} outside the vocabulary`, async () => {
      setConfig({ [key]: 16 });
      await refuses(new RegExp(`${key} 16 is outside the vocabulary of 16`));
    });
  }

  it("lists all that is wrong with a config", async () => {
    setConfig({ attention: "sideways", vocab_size: -1 });
    for (const wrong of [/config\.json is not a usable model config/, /attention/, /vocab_size/]) await refuses(wrong);
  });

  it("refuses a graph without one of the inputs", async () => {
    const { graph } = await loadModel(dir);
    const inputs = graph.inputs.filter((input) => input.name !== "position_ids");
    await writeModelFile(join(dir, "model.onnx"), { ...graph, inputs });
    await refuses(/reads no input position_ids \(it reads input_ids, attention_bias\)/);
  });

  it("refuses to save weights that are missing or of another shape", async () => {
    const weights = await freshWeights();
    const refused = (given: typeof weights, message: RegExp): Promise<void> =>
      assert.rejects(saveModel(dir, MICRO, given, letters(10)), userError(message));
    const name = "model.layers.1.self_attn.k_proj.weight";
    const wrong = new Map(weights).set(name, { dtype: "float32", shape: [8, 4], data: new Float32Array(32) });
    await refused(wrong, /k_proj\.weight should have the shape \[4, 8\], got \[8, 4\]/);
    weights.delete(name);
    await refused(weights, /lacks the weight model\.layers\.1.*k_proj/);
  });

  it("proposes the nearest architecture", async () => {
    const refused = (architecture: string, of: object): Promise<void> =>
      assert.rejects(saveModel(dir, { ...MICRO, architecture }, new Map(), letters(10)), of);
    const unknown = /Unknown architecture "refuson"; known: .*refusion/;
    await refused("refuson", userError(unknown, { hint: /^Did you mean "refusion"\?$/ }));
    // an imported graph's, whose run was asked to be merged
    await refused("imported", { hint: /`export --model DIR --merge RUN` merges its adapter/ });
  });
});
