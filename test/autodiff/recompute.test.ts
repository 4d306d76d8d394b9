import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { backward } from "../../src/autodiff/backward.js";
import { ALL_LAYERS, findBlocks, type Recomputed } from "../../src/autodiff/recompute.js";
import { packageRoot } from "../../src/core/files.js";
import { Rng } from "../../src/core/rng.js";
import { bindModel } from "../../src/nn/bind.js";
import type { LoraOptions } from "../../src/nn/lora.js";
import { loadModel } from "../../src/nn/model.js";
import { encodeModel } from "../../src/onnx/format/proto.js";
import type { Node, Tensor, Value } from "../../src/onnx/types.js";
import { relativeError } from "../support/golden.js";
import { importedModel } from "../support/imported-model.js";
import { MICRO, microModel } from "../support/micro-model.js";
import { cpuRuntime } from "../support/temporary.js";
import { floatsOf, intsOf } from "../support/tensors.js";

const runtime = await cpuRuntime();

const [B, N] = [2, 6];

describe("findBlocks", () => {
  const blocks = (...names: string[]): string[][] => {
    const nodes = names.map((name): Node => ({ name, op: "Add", domain: "", inputs: [], outputs: [], attributes: {} }));
    return [...findBlocks(nodes).values()].map((own) => own.map((n) => n.name));
  };

  it("groups a stack's layers by the first number of their paths", () => {
    assert.deepEqual(
      blocks("/model/Gather", "/model/layers.0/mlp.1/Add", "/model/layers.0/Add", "/model/layers.1/Mul", "/norm/Mul"),
      [["/model/layers.0/mlp.1/Add", "/model/layers.0/Add"], ["/model/layers.1/Mul"]],
    );
    assert.deepEqual(blocks("/transformer/h/0/Add", "/transformer/h/1/Add"), [
      ["/transformer/h/0/Add"],
      ["/transformer/h/1/Add"],
    ]);
  });

  it("finds no block where nothing is repeated", () => {
    assert.deepEqual(blocks("/constants/0", "/head/dense.0/Add", "/head/Add_1"), []);
  });
});

describe("gradient checkpointing", () => {
  /** Gradients of a loss over all logits. */
  async function gradientsOf(
    dir: string,
    lora: LoraOptions,
    again: Recomputed,
  ): Promise<{ values: Map<string, Float32Array>; recomputed: string[] }> {
    const model = await loadModel(dir);
    const { g, e, outputs, parameters } = bindModel(model.graph, "step", { dims: { B, N }, lora });
    const logits = outputs.logits as Value;
    const loss = e.average(e.mul(logits, logits));
    const initial = new Map(parameters.map((p) => [p.name, g.input(`acc/${p.name}`, "float32", p.shape)]));
    const gradients = backward(g, loss, parameters, initial, again);
    parameters.forEach((p, i) => void g.output(`grad/${p.name}`, gradients[i] as Value));
    const graph = g.build();
    const rng = Rng.named(4, "recompute");
    const feeds: Record<string, Tensor> = {};
    for (const { name, dtype, shape } of graph.inputs)
      feeds[name] =
        dtype === "int64"
          ? intsOf(shape as number[], (i) => i % N)
          : floatsOf(shape as number[], () => rng.normal() * 0.3);
    ((feeds.attention_bias as Tensor).data as Float32Array).fill(0);
    await runtime.load("step", { bytes: encodeModel(graph), weightsDir: model.dir }, { memPattern: false });
    const out = await runtime.run("step", { feeds });
    await runtime.unload("step");
    return {
      values: new Map(Object.entries(out).map(([name, tensor]) => [name, tensor.data as Float32Array])),
      recomputed: graph.nodes.filter((n) => /\/(recompute|again)\//.test(n.name)).map(({ op }) => op),
    };
  }

  const MODELS: [string, () => string | Promise<string>, string[]][] = [
    ["our own model", () => microModel(), ["q_proj", "k_proj", "o_proj", "down_proj"]],
    ["an imported graph", () => importedModel("bert-dynamo"), ["query", "dense"]],
    ["an imported graph of the older exporter", () => importedModel("qwen3-torchscript"), ["q_proj", "down_proj"]],
  ];
  for (const [what, make, targets] of MODELS) {
    it(`changes no gradient of ${what}`, async () => {
      const dir = await make();
      const lora = { rank: 2, alpha: 4, targets };
      const plain = await gradientsOf(dir, lora, {});
      const whole = await gradientsOf(dir, lora, { layers: ALL_LAYERS });
      const first = await gradientsOf(dir, lora, { layers: 1, cheap: 1 });
      const [none, all, some] = [plain, whole, first].map(({ recomputed }) => recomputed.length);
      assert.ok(none === 0 && Number(all) > 20 && Number(some) > 10 && Number(some) < Number(all), `${all}, ${some}`);
      // selected results include the weights of an attention whose scores are a product and a bias
      const weights = [whole, first].map(({ recomputed }) => recomputed.filter((op) => op === "Softmax").length);
      assert.deepEqual(weights, [2, what === "our own model" ? 2 : 1]);
      assert.ok(plain.values.size > 4);
      for (const [name, expected] of plain.values) {
        for (const again of [whole, first]) {
          const error = relativeError(again.values.get(name) as Float32Array, expected);
          assert.ok(error < 1e-6, `${name}: ${error}`);
        }
      }
    });
  }

  it("lowers the peak memory of a training step", async () => {
    const wide = { hidden_size: 32, head_dim: 8, num_attention_heads: 4, intermediate_size: 64 };
    const dir = await microModel({ ...MICRO, ...wide, num_hidden_layers: 12 });
    const program = join(packageRoot(), "dist", "test", "support", "peak-memory.js");
    type Measured = { peak: number; estimate: number; gradients: Record<string, number[]> };
    const measure = async (checkpoint: boolean): Promise<Measured> =>
      JSON.parse((await promisify(execFile)(process.execPath, [program, dir, String(checkpoint)])).stdout);
    const plain = await measure(false);
    const again = await measure(true);
    assert.ok(again.peak < 0.5 * plain.peak, `${again.peak} against ${plain.peak} bytes`);
    // what the graph says of itself (liveness.ts), both ways
    const ratio = plain.estimate / plain.peak;
    assert.ok(ratio > 0.6 && ratio < 1.5, `estimated ${plain.estimate}, measured ${plain.peak} bytes`);
    assert.ok(again.estimate < 0.5 * plain.estimate);
    for (const [name, expected] of Object.entries(plain.gradients))
      assert.ok(relativeError(again.gradients[name] as number[], expected) < 1e-6, name);
  });
});
