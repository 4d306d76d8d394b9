import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { checkGraph, checkLength } from "../../src/engine/graph-check.js";
import { loadModel } from "../../src/nn/model.js";
import { readModelFile, writeModelFile } from "../../src/onnx/format/proto.js";
import { importedModel } from "../support/imported-model.js";
import { cpuRuntime, temporaryFolder } from "../support/temporary.js";

const runtime = await cpuRuntime();

describe("a model's graph against its config.json", () => {
  const root = temporaryFolder("graph-check");

  const open = async (dir: string): Promise<void> => checkGraph(runtime, await loadModel(dir));
  const refused = (dir: string, problem: RegExp): Promise<void> =>
    assert.rejects(open(dir), { name: "UserError", message: problem, hint: /./ });
  /** Copies a shipped model with changes to config.json. */
  const changed = (name: string, changes: object): string => {
    const dir = mkdtempSync(join(root, "model-"));
    cpSync(join(packageRoot(), "models", name), dir, { recursive: true });
    const config = JSON.parse(readFileSync(join(dir, "config.json"), "utf8")) as object;
    writeFileSync(join(dir, "config.json"), JSON.stringify({ ...config, ...changes }));
    return dir;
  };

  it("accepts the shipped models, whichever version wrote their graphs", async () => {
    for (const name of ["tiny-refusion", "tiny-masked-lm", "tiny-fsdfm"]) await open(changed(name, {}));
  });

  for (const [model, changes, problem] of [
    ["tiny-refusion", { rope_theta: 500 }, /contradict each other: on the same tokens/],
    ["tiny-refusion", { no_rope_layers: [1, 1, 1, 0] }, /contradict each other: on the same tokens/],
    ["tiny-refusion", { num_hidden_layers: 3 }, /contradict each other: the graph has model\.layers\.3/],
    ["tiny-refusion", { num_hidden_layers: 5 }, /lacks the weight model\.layers\.4/],
    ["tiny-refusion", { rms_norm_eps: 1e-5 }, /the graph has epsilon 9\.99\S+e-7/],
    ["tiny-refusion", { attention: "bidirectional" }, /refusion is causal/],
    ["tiny-refusion", { attention: "bidirectional", architecture: "masked_lm" }, /the architecture refusion/],
    ["tiny-refusion", { num_hidden_layers: 1e9 }, /num_hidden_layers: Too big/],
    ["tiny-refusion", { hidden_size: 1e9 }, /hidden_size: Too big/],
    ["tiny-fsdfm", { num_attention_heads: 8 }, /contradict each other/],
    ["tiny-fsdfm", { step_conditioned: false }, /contradict each other: the graph has dt_embedding/],
  ] as const)
    it(`refuses ${model} with ${JSON.stringify(changes)}`, () => refused(changed(model, changes), problem));

  it("refuses an operator set that is not read here", async () => {
    const dir = changed("tiny-refusion", {});
    const path = join(dir, "model.onnx");
    await writeModelFile(path, { ...(await readModelFile(path)), opset: 99 });
    await refused(dir, /uses operator set 99; 17 to 21/);
  });

  it("sees in an imported graph which tokens see which", async () => {
    for (const [name, changes, problem] of [
      ["bert-dynamo", {}, undefined],
      ["qwen3-dynamo", {}, undefined],
      ["qwen3-dynamo", { attention: "bidirectional" }, undefined],
      ["bert-dynamo", { vocab_size: 32, mask_token_id: 30, eos_token_id: 29, pad_token_id: 31 }, /vocab_size is 32/],
    ] as const) {
      const model = importedModel(name, changes);
      try {
        if (problem === undefined) await open(model.dir);
        else await refused(model.dir, problem);
      } finally {
        model.remove();
      }
    }
  });

  describe("the longest text against the positions of another program's graph", () => {
    // 32 learned positions each, and the buckets of batches are multiples of 32
    for (const name of ["bert-dynamo", "bert-torchscript", "opt-torchscript", "recipe-docs", "nano-dynamo"] as const)
      it(`accepts what fits and says how much does: ${name}`, async () => {
        const { dir, remove } = importedModel(name);
        const model = await loadModel(dir);
        checkLength(model, 32, "the text");
        assert.throws(() => checkLength(model, 33, "the text"), {
          name: "UserError",
          message: /^the text is 33 tokens, and the graph of .* takes 32 /,
        });
        remove();
      });

    it("accepts any length of a graph that computes its positions", async () => {
      const { dir, remove } = importedModel("modernbert-dynamo");
      checkLength(await loadModel(dir), 500, "the text");
      remove();
    });
  });
});
