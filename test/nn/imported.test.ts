import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { BLOCKED } from "../../src/attention/bias.js";
import { backward } from "../../src/autodiff/backward.js";
import { packageRoot } from "../../src/core/files.js";
import { bindModel, loraSites } from "../../src/nn/bind.js";
import { checkOpset, isImported, normaliseImported } from "../../src/nn/imported.js";
import { type LoraOptions, loraName } from "../../src/nn/lora.js";
import { loadModel, modelHash, weightFiles } from "../../src/nn/model.js";
import { readModelFile, writeModelFile } from "../../src/onnx/format/proto.js";
import type { RawModel } from "../../src/onnx/format/raw-model.js";
import type { Graph, Tensor, Value } from "../../src/onnx/types.js";
import { type Golden, readGolden, relativeError } from "../support/golden.js";
import { EXPORTS, importedModel } from "../support/imported-model.js";
import { runGraph } from "../support/run-graph.js";
import { cpuRuntime } from "../support/temporary.js";
import { floatsOf, intsOf } from "../support/tensors.js";
import { userError } from "../support/user-error.js";

const [B, N, V] = [2, 10, 64];
const dims = { B, N };

/** The contract's inputs for a golden: a mask becomes the bias that hides padding. */
function contractFeeds(golden: Golden): Record<string, Tensor> {
  const own = (name: string): Tensor | undefined => golden.tensors.get(`input.${name}`);
  const mask = own("attention_mask");
  const bias = floatsOf([B, 1, N, N], (i) => {
    const [b, query, key] = [Math.floor(i / (N * N)), Math.floor(i / N) % N, i % N];
    const hidden = (n: number): boolean => mask?.data[b * N + n] === 0n;
    // padding sees itself only, as in a batch of buffers
    return hidden(query) ? (query === key ? 0 : BLOCKED) : hidden(key) ? BLOCKED : 0;
  });
  return {
    input_ids: own("input_ids") as Tensor,
    position_ids: own("position_ids") ?? intsOf([B, N], (i) => i % N),
    attention_bias: own("attention_bias") ?? bias,
  };
}

function loraOf(golden: Golden): LoraOptions {
  const { rank, alpha, targets } = golden.meta as unknown as LoraOptions;
  return { rank, alpha, targets };
}

const runtime = await cpuRuntime();

for (const name of EXPORTS) {
  describe(`the graph ${name}`, () => {
    const golden = readGolden(join("imported", name.split("-")[0] as string));
    const lora = loraOf(golden);
    const feeds = contractFeeds(golden);
    const dir = importedModel(name);
    let model: Awaited<ReturnType<typeof loadModel>>;
    before(async () => {
      model = await loadModel(dir);
    });

    const run = (bound: { g: { build(): RawModel | Graph } }, more: Record<string, Tensor> = {}) =>
      runGraph(runtime, bound.g.build(), { ...feeds, ...more }, model.dir);

    it("gives PyTorch's logits", async () => {
      const bound = bindModel(model.graph, "plain", { dims });
      const logits = bound.outputs.logits as Value;
      assert.deepEqual(logits.shape, [B, N, V]);
      bound.g.output("out", logits);
      const got = (await run(bound)).out?.data as Float32Array;
      const expected = golden.floats("expect.logits");
      // the last rows of the last sample are padding
      const padded = golden.tensors.has("input.attention_mask") ? 3 : 0;
      const kept = (B * N - padded) * V;
      assert.ok(relativeError(got.subarray(0, kept), expected.subarray(0, kept)) < 1e-4);
    });

    // the others take fewer tokens, or turn nothing: their positions are learned
    it("runs on the fused operators", { skip: !/^(modernbert|qwen3)/.test(name) }, () => {
      const long = bindModel(model.graph, "long", { dims: { B: 1, N: 130 }, causal: { recompute: false } });
      long.g.output("out", long.outputs.logits as Value);
      const graph = long.g.build();
      const count = (op: string): number => graph.nodes.filter((n) => n.op === op).length;
      if (!name.startsWith("qwen3")) {
        // ModernBERT turns its heads, and hides padding by a mask that is no bias
        assert.equal(count("RotaryEmbedding"), 4);
        return;
      }
      // two layers: q and k; two norms and those of q and k, and the last one; two blocks of queries
      const fused = ["RotaryEmbedding", "SimplifiedLayerNormalization", "QuickGelu", "Softmax", "Cos"].map(count);
      assert.deepEqual(fused, [4, 9, 2, 4, 1]);
      assert.deepEqual(["Pow", "Sigmoid", "Neg", "Reciprocal"].map(count), [0, 0, 0, 0]);
    });

    it("trains adapters with PyTorch's names, loss and gradients", async () => {
      const names = [...golden.tensors.keys()].filter((key) => key.startsWith("base_model."));
      const sites = loraSites(model.graph, lora);
      assert.deepEqual(sites.flatMap((s) => [loraName(s.module, "A"), loraName(s.module, "B")]).sort(), names.sort());

      const rows = golden.tensors.get("input.rows") as Tensor;
      const targets = golden.tensors.get("input.targets") as Tensor;
      const count = rows.shape[0] as number;
      const bound = bindModel(model.graph, "training", { dims, lora, rows: count });
      const logits = bound.outputs.logits as Value;
      assert.deepEqual(logits.shape, [count, V]);
      const { g, e } = bound;
      const asked = e.reshape(g.input("targets", "int64", [count]), [count, 1]);
      const picked = e.gatherElements(e.logSoftmax(logits), asked, 1);
      const loss = e.neg(e.average(picked));
      const gradients = backward(g, loss, bound.parameters);
      g.output("loss", loss);
      bound.parameters.forEach((p, i) => void g.output(`grad.${p.name}`, gradients[i] as Value));
      const adapter = Object.fromEntries(names.map((key) => [key, golden.tensors.get(key) as Tensor]));
      const out = await run(bound, { rows, targets, ...adapter });
      assert.ok(relativeError([Number(out.loss?.data[0])], golden.floats("expect.loss")) < 1e-4);
      for (const key of names) {
        const error = relativeError(out[`grad.${key}`]?.data as Float32Array, golden.floats(`grad.${key}`));
        assert.ok(error < 1e-4, `${key}: ${error}`);
      }
    });

    it("leaves no shape arithmetic behind", () => {
      const { g } = bindModel(model.graph, "static", { dims });
      const left = g.build().nodes.filter((n) => ["Shape", "ConstantOfShape", "Range", "Size"].includes(n.op));
      assert.deepEqual(
        left.map((n) => n.name),
        [],
      );
    });
  });
}

it("docs/model.md prints the recipe that the golden recipe was exported by", () => {
  const docs = readFileSync(join(packageRoot(), "docs", "model.md"), "utf8");
  const { recipe } = readGolden(join("imported", "recipe")).meta as unknown as { recipe: string };
  assert.equal(/```python\n(.*?)```/s.exec(docs)?.[1], recipe);
});

describe("normaliseImported", () => {
  const CONFIG = { vocab_size: V };
  const raw = (name: (typeof EXPORTS)[number] = "bert-dynamo"): Promise<RawModel> =>
    readModelFile(join(importedModel(name), "model.onnx"));

  it("names nodes and weights of both exporters alike", async () => {
    const [old, dynamo] = await Promise.all([raw("bert-torchscript"), raw("bert-dynamo")]);
    const weights = (model: RawModel): string[] =>
      [...normaliseImported(model, "file", CONFIG).initializers.keys()].filter((n) => n.endsWith(".weight")).sort();
    assert.ok(isImported(old));
    // the newer exporter shares the embedding with the head
    const own = weights(old).filter((n) => n !== "bert.embeddings.word_embeddings.weight");
    assert.deepEqual(weights(dynamo), own);
    assert.ok(own.includes("bert.encoder.layer.1.attention.self.query.weight"));
    const names = normaliseImported(dynamo, "file", CONFIG).nodes.map((n) => n.name);
    assert.equal(new Set(names).size, names.length);
    assert.ok(names.includes("/model/bert/encoder/layer.0/attention/self/query/MatMul"));
  });

  it("refuses other operator sets and inputs that nothing feeds", async () => {
    const model = await raw();
    assert.throws(() => checkOpset({ ...model, opset: 13 }, "a.onnx"), userError(/a\.onnx uses operator set 13/));
    const past: Value = { name: "past_key_values.0.key", dtype: "float32", shape: ["B", 2, "P", 8] };
    assert.throws(
      () => normaliseImported({ ...model, inputs: [...model.inputs, past] }, "a.onnx", CONFIG),
      userError(/a\.onnx has the input "past_key_values\.0\.key", which nothing here can feed/),
    );
  });

  it("finds the logits under any name, drops other outputs, and asks where there is a choice", async () => {
    const model = await raw("nano-torchscript");
    const score = model.outputs[0] as Value;
    const other = model.nodes.find(({ op }) => op === "Softmax")?.outputs[0] as string;
    const outputs = [{ name: other, dtype: "float32", shape: ["B", "N", 10] } as const, score];
    const named = normaliseImported({ ...model, outputs }, "a.onnx", CONFIG);
    assert.deepEqual([score.name, named.outputs.map(({ name }) => name)], ["scores", ["logits"]]);
    const twice = { ...model, outputs: [{ ...score, name: other }, score] };
    assert.throws(
      () => normaliseImported(twice, "a.onnx", CONFIG),
      userError(/a\.onnx has no output logits, but .*Softmax\S* \[.*\], scores \[batch, sequence, 64\]/),
    );
    assert.equal(normaliseImported(twice, "a.onnx", { ...CONFIG, logits_output: other }).nodes.at(-1)?.op, "Softmax");
    // a value of the file that has the name
    const rename = <T extends string | undefined>(name: T) => (name === other ? "logits" : name);
    const nodes = model.nodes.map((n) => ({ ...n, outputs: n.outputs.map(rename), inputs: n.inputs.map(rename) }));
    const taken = { ...model, nodes };
    const producer = normaliseImported(taken, "a.onnx", CONFIG).nodes.find(({ outputs }) => outputs.includes("logits"));
    assert.equal(producer?.op, "MatMul");
  });

  it("refuses an adapter of two modules whose equal weights the exporter wrote once", async () => {
    const dir = importedModel("bert-dynamo");
    const { graph } = await loadModel(dir);
    const weight = (layer: number): string => `bert.encoder.layer.${layer}.intermediate.dense.weight`;
    const nodes = graph.nodes.map((n) => ({ ...n, inputs: n.inputs.map((i) => (i === weight(1) ? weight(0) : i)) }));
    assert.throws(
      () => loraSites({ ...graph, nodes }, { rank: 1, alpha: 1, targets: ["dense"] }),
      userError(/layer\.0\.intermediate\.dense and .*layer\.1\.intermediate\.dense have one weight/),
    );
  });

  it("names an unknown operator by its module", async () => {
    const dir = importedModel("bert-dynamo");
    const { graph } = await loadModel(dir);
    const nodes = graph.nodes.map((n) => (n.op === "Gelu" ? { ...n, op: "Bernoulli" } : n));
    assert.throws(
      () => bindModel({ ...graph, nodes }, "strange", { dims }),
      userError(/Unknown op Bernoulli at \/model\/bert\/encoder\/layer\.0\/intermediate\/intermediate_act_fn\/Gelu/),
    );
  });
});

describe("loadModel with an imported graph", () => {
  const refuses = (dir: string, message: RegExp): Promise<void> => assert.rejects(loadModel(dir), userError(message));
  /** Changes the file of a graph. @returns its folder. */
  async function changed(name: (typeof EXPORTS)[number], change: (model: RawModel) => Partial<RawModel>) {
    const dir = importedModel(name);
    const path = join(dir, "model.onnx");
    const model = await readModelFile(path);
    await writeModelFile(path, { ...model, ...change(model) });
    return dir;
  }

  it("refuses a mask in place of a bias where the model is causal, and says why", async () => {
    const dir = importedModel("bert-dynamo", { attention: "causal" });
    await refuses(dir, /reads no input position_ids, attention_bias .*which a causal model needs here/);
  });

  it("refuses a graph whose exporter took one tensor for two inputs", async () => {
    const merged = (name: string | undefined): string | undefined => (name === "input_ids" ? "position_ids" : name);
    const dir = await changed("recipe-docs", ({ nodes }) => {
      return { nodes: nodes.map((n) => ({ ...n, inputs: n.inputs.map(merged) })) };
    });
    await refuses(dir, /reads no input input_ids \(it reads position_ids, attention_bias\)/);
  });

  it("refuses a graph from which padding cannot be hidden", async () => {
    const dir = await changed("bert-dynamo", ({ inputs }) => {
      return { inputs: inputs.filter((i) => i.name !== "attention_mask") };
    });
    await refuses(dir, /no attention_mask in its place/);
  });

  it("takes weights of any file, or of the graph itself, into its hash", async () => {
    const [inline, external] = [importedModel("bert-torchscript"), importedModel("bert-dynamo")];
    assert.deepEqual(weightFiles((await loadModel(inline)).graph), []);
    assert.deepEqual(weightFiles((await loadModel(external)).graph), ["model.onnx.data"]);
    assert.equal((await modelHash(inline)).length, 24);
    assert.equal((await modelHash(external)).length, 32);
  });

  it("refuses a batch that the export fixed", async () => {
    const { graph } = await loadModel(importedModel("qwen3-dynamo"));
    const inputs = graph.inputs.map((i) => (i.name === "input_ids" ? { ...i, shape: [1, "sequence"] } : i));
    const refusal = userError(/only takes input_ids of \[1, sequence\], not B = 2/);
    assert.throws(() => bindModel({ ...graph, inputs }, "fixed", { dims }), refusal);
  });
});
