import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { checkGraph, checkLength } from "../../src/engine/graph-check.js";
import { loadModel } from "../../src/nn/model.js";
import { readModelFile, writeModelFile } from "../../src/onnx/format/proto.js";
import type { RawModel, RawNode } from "../../src/onnx/format/raw-model.js";
import type { Initializer, Value } from "../../src/onnx/types.js";
import { importedModel } from "../support/imported-model.js";
import { cpuRuntime, temporaryFolder } from "../support/temporary.js";
import { userError } from "../support/user-error.js";

const runtime = await cpuRuntime();

describe("a model's graph against its config.json", () => {
  const open = async (dir: string): Promise<void> => checkGraph(runtime, await loadModel(dir));
  const refused = (dir: string, problem: RegExp): Promise<void> =>
    assert.rejects(open(dir), userError(problem, { hint: /./ }));
  /** Copies a shipped model with changes to config.json. */
  const changed = (name: string, changes: object): string => {
    const dir = temporaryFolder("model");
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
      const dir = importedModel(name, changes);
      if (problem === undefined) await open(dir);
      else await refused(dir, problem);
    }
  });

  for (const logit of [-1e9, Number.NEGATIVE_INFINITY])
    it(`sees it whatever the mask's own logit is: ${logit}`, async () => {
      for (const [attention, blocks, refusal] of [
        ["bidirectional", 1, undefined],
        ["causal", 1, undefined],
        ["causal", 0, /attention is causal, and changing the last token changes \d+ of the/],
      ] as const) {
        const dir = importedModel("recipe-docs", { attention });
        const path = join(dir, "model.onnx");
        const model = await readModelFile(path);
        const { vocab_size: size, mask_token_id: mask } = (await loadModel(dir)).config;
        const [output] = model.outputs as [Value];
        const constant = (name: string, shape: number[], data: Float32Array): [string, Initializer] => {
          return [name, { value: { name, dtype: "float32", shape }, data }];
        };
        const bias = Float32Array.from({ length: size }, (_, id) => (id === mask ? logit : 0));
        const initializers = new Map([
          ...model.initializers,
          constant("mask_logit", [size], bias),
          constant("blocks", [1], Float32Array.of(blocks)),
        ]);
        const renamed = (from: string, to: string, name?: string) => (name === from ? to : name);
        const plain = model.nodes.map((node) => ({
          ...node,
          inputs: node.inputs.map((of) => renamed("attention_bias", "scaled_bias", of)),
          outputs: node.outputs.map((of) => renamed(output.name, "plain", of) as string),
        }));
        const node = (op: string, inputs: string[], result: string): RawNode => {
          return { ...(plain[0] as RawNode), op, name: result, inputs, outputs: [result], attributes: {} };
        };
        const scaled = node("Mul", ["attention_bias", "blocks"], "scaled_bias");
        const nodes = [scaled, ...plain, node("Add", ["plain", "mask_logit"], output.name)];
        await writeModelFile(path, { ...model, initializers, nodes });
        if (refusal === undefined) await open(dir);
        else await refused(dir, refusal);
      }
    });

  it("refuses a graph whose output is missing, misnamed or not computed, and a Transpose of no order of the axes", async () => {
    const logits = (to: string) => (model: RawModel) => {
      return { ...model, outputs: model.outputs.map((output) => ({ ...output, name: to })) };
    };
    const transposed = (perm: number[]) => (model: RawModel) => ({
      ...model,
      nodes: model.nodes.map((node) => (node.op === "Transpose" ? { ...node, attributes: { perm } } : node)),
    });
    for (const [change, problem] of [
      [(model: RawModel) => ({ ...model, outputs: [] }), /no output logits/],
      [logits("nothing"), /no output logits|reads no input/],
      [logits("input_ids"), /no output logits|reads no input/],
      [transposed([0, 1, 2, 9]), /Transpose: perm \[0, 1, 2, 9\] is no order of the axes|Invalid attribute perm/],
      [transposed([0, 0, 1]), /Transpose: perm \[0, 0, 1\]/],
    ] as const)
      for (const dir of [changed("tiny-refusion", {}), importedModel("nano-dynamo")]) {
        const path = join(dir, "model.onnx");
        await writeModelFile(path, change(await readModelFile(path)));
        await refused(dir, problem);
      }
  });

  describe("the longest text against the positions of another program's graph", () => {
    // 32 learned positions each, and the buckets of batches are multiples of 32
    for (const name of ["bert-dynamo", "bert-torchscript", "opt-torchscript", "recipe-docs", "nano-dynamo"] as const)
      it(`accepts what fits and says how much does: ${name}`, async () => {
        const dir = importedModel(name);
        const model = await loadModel(dir);
        checkLength(model, 32, "the text");
        const long = userError(/^the text is 33 tokens, and the graph of .* takes 32 /);
        assert.throws(() => checkLength(model, 33, "the text"), long);
      });

    it("accepts any length of a graph that computes its positions", async () => {
      const dir = importedModel("modernbert-dynamo");
      checkLength(await loadModel(dir), 500, "the text");
    });
  });
});
