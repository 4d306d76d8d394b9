import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backward } from "../../src/autodiff/backward.js";
import { Rng } from "../../src/core/rng.js";
import { type BoundModel, bindModel, loraSites } from "../../src/nn/bind.js";
import { freshAdapter, type LoraOptions } from "../../src/nn/lora.js";
import { loadModel, type Model } from "../../src/nn/model.js";
import { encodeModel } from "../../src/onnx/format/proto.js";
import type { RawModel, RawNode } from "../../src/onnx/format/raw-model.js";
import type { Dim, Initializer, Tensor, Value } from "../../src/onnx/types.js";
import { relativeError } from "../support/golden.js";
import { freshWeights, microModel } from "../support/micro-model.js";
import { runGraph } from "../support/run-graph.js";
import { cpuRuntime } from "../support/temporary.js";
import { floatsOf, intsOf } from "../support/tensors.js";
import { userError } from "../support/user-error.js";

const runtime = await cpuRuntime();

const B = 2;
const N = 5;
const dims = { B, N };
const lora: LoraOptions = { rank: 2, alpha: 4, targets: ["q_proj", "down_proj"] };
const MODULES = [0, 1].flatMap((i) => [`model.layers.${i}.self_attn.q_proj`, `model.layers.${i}.mlp.down_proj`]);
const PEFT_NAMES = MODULES.flatMap((m) => ["A", "B"].map((part) => `base_model.model.${m}.lora_${part}.weight`));

const i64 = (shape: number[], values: number[]): Tensor => intsOf(shape, (i) => values[i]);

/** Token ids, positions and a causal bias of a batch. */
function feeds(): Record<string, Tensor> {
  const rng = Rng.named(3, "feeds");
  return {
    input_ids: intsOf([B, N], () => rng.int(16)),
    position_ids: intsOf([B, N], (i) => (2 * i) % 7),
    attention_bias: floatsOf([B, 1, N, N], (i) => (i % N > Math.floor(i / N) % N ? -1e9 : 0)),
  };
}

/** An adapter with nothing in it zero. */
function trainedAdapter(model: Model): Map<string, Tensor> {
  const rng = Rng.named(5, "adapter");
  const fresh = freshAdapter(loraSites(model.graph, lora), lora, rng);
  return new Map([...fresh].map(([k, { shape }]) => [k, floatsOf(shape, () => rng.normal() * 0.3)]));
}

const model = await loadModel(await microModel());

describe("bindModel", () => {
  it("multiplies what several sites read by all of their A matrices at once", () => {
    const targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "lm_head"];
    const bound = bindModel(model.graph, "stacked", { dims, rows: 3, lora: { ...lora, targets } });
    const products = bound.g.nodes.filter((n) => n.op === "Gemm" && n.name.includes("/lora/"));
    const widths = products.flatMap((n) => (n.inputs.length === 2 ? [n.outputs[0]?.shape[1]] : []));
    // q, k and v; o; gate and up; down: twice, and the head, which reads rows of its own
    assert.deepEqual(widths, [6, 2, 4, 2, 6, 2, 4, 2, 2]);
    const modules = bound.parameters.filter((p) => p.name.endsWith("lora_A.weight")).map((p) => p.name);
    assert.deepEqual(
      modules,
      loraSites(model.graph, { ...lora, targets }).map(({ module }) => `base_model.model.${module}.lora_A.weight`),
    );
  });

  async function logitsOf(bound: BoundModel, extra: Iterable<[string, Tensor]> = []): Promise<Float32Array> {
    bound.g.output("out", bound.outputs.logits as Value);
    const given = { ...feeds(), ...Object.fromEntries(extra) };
    return (await runGraph(runtime, bound.g.build(), given, model.dir)).out?.data as Float32Array;
  }
  const plain = (): Promise<Float32Array> => logitsOf(bindModel(model.graph, "plain", { dims }));

  it("makes every shape static and leaves no shape arithmetic", () => {
    const { g, outputs, hidden, parameters } = bindModel(model.graph, "static", { dims });
    assert.deepEqual(Object.keys(outputs), ["logits"]);
    assert.deepEqual(outputs.logits?.shape, [B, N, 16]);
    assert.deepEqual(hidden?.shape, [B * N, 8]);
    g.output("out", outputs.logits as Value);
    assert.ok(!g.build().inputs.some((input) => input.name === "rows"));
    assert.deepEqual(parameters, []);
    const all = g.nodes.flatMap((n) => n.outputs);
    assert.ok(all.every((v) => v.shape.every((d) => typeof d === "number")));
    assert.ok(!g.nodes.some((n) => ["Shape", "Concat"].includes(n.op) && n.outputs[0]?.dtype === "int64"));
  });

  it("gives what the model file itself gives", async () => {
    // the file's own graph, with its symbolic dimensions
    const out = await runGraph(runtime, model.graph, feeds(), model.dir);
    assert.deepEqual(out.logits?.shape, [B, N, 16]);
    assert.ok(relativeError(await plain(), out.logits?.data as Float32Array) < 1e-5);
  });

  it("reads an Einsum as the product that it is", async () => {
    const attributes = { equation: "...ik,...kj->...ij" };
    const nodes = model.graph.nodes.map((n) => (n.op === "MatMul" ? { ...n, op: "Einsum", attributes } : n));
    assert.equal(nodes.filter(({ op }) => op === "Einsum").length, 4);
    const bound = bindModel({ ...model.graph, nodes }, "einsum", { dims });
    assert.ok(relativeError(await logitsOf(bound), await plain()) < 1e-6);
  });

  it("refuses a dimension that nothing binds", () => {
    const refusal = userError(/graph refusion has the dimension "N", which nothing binds; known: B, M/);
    assert.throws(() => bindModel(model.graph, "unbound", { dims: { B, M: 3 } }), refusal);
  });

  it("sends only the wanted rows through the head", async () => {
    const full = await plain();
    const bound = bindModel(model.graph, "rows", { dims, rows: 3 });
    assert.deepEqual(bound.outputs.logits?.shape, [3, 16]);
    assert.deepEqual(bound.g.build().inputs.find((input) => input.name === "rows")?.shape, [3]);
    // all rows of them, whatever the head reads
    assert.deepEqual(bound.hidden?.shape, [B * N, 8]);
    const wanted = [7, 0, 7];
    const got = await logitsOf(bound, [["rows", i64([3], wanted)]]);
    const expected = wanted.flatMap((row) => [...full.subarray(row * 16, row * 16 + 16)]);
    assert.ok(relativeError(got, expected) < 1e-5);
  });

  it("adds adapters under PEFT's names, which change nothing while B is zero", async () => {
    const bound = bindModel(model.graph, "fresh", { dims, lora });
    const names = bound.parameters.map((p) => p.name);
    assert.deepEqual(names, PEFT_NAMES);
    const shapes = bound.parameters.slice(0, 2).map((p) => String(p.shape));
    assert.deepEqual(shapes, ["2,8", "8,2"]);
    const adapter = freshAdapter(loraSites(model.graph, lora), lora, Rng.named(0, "adapter"));
    assert.ok(relativeError(await logitsOf(bound, adapter), await plain()) < 1e-6);
  });

  it("gives with an adapter what merged weights give: W + alpha/r B A", async () => {
    const adapter = trainedAdapter(model);
    const merged = await freshWeights();
    for (const module of MODULES) {
      const part = (name: string) => adapter.get(`base_model.model.${module}.lora_${name}.weight`) as Tensor;
      const [a, b] = [part("A"), part("B")];
      const weight = merged.get(`${module}.weight`) as Tensor;
      const [out, inputs] = weight.shape as [number, number];
      const at = (t: Tensor, i: number, j: number): number => Number(t.data[i * (t.shape[1] as number) + j]);
      for (let o = 0; o < out; o++)
        for (let i = 0; i < inputs; i++) {
          const change = 2 * (at(b, o, 0) * at(a, 0, i) + at(b, o, 1) * at(a, 1, i));
          weight.data[o * inputs + i] = at(weight, o, i) + change;
        }
    }
    const withAdapter = await logitsOf(bindModel(model.graph, "adapter", { dims, lora }), adapter);
    const withMerged = await logitsOf(bindModel(model.graph, "merged", { dims, weights: "input" }), merged);
    assert.ok(relativeError(withAdapter, withMerged) < 1e-5);
    assert.ok(relativeError(withAdapter, await plain()) > 0.01);
  });

  it("makes every weight an input where all are trained", async () => {
    const weights = await freshWeights();
    const bound = bindModel(model.graph, "full", { dims, weights: "input" });
    assert.deepEqual(bound.parameters.map((p) => p.name).sort(), [...weights.keys()].sort());
    assert.ok([...bound.g.initializers.keys()].every((name) => !weights.has(name)));
    for (const p of bound.parameters) assert.deepEqual(p.shape, weights.get(p.name)?.shape, p.name);
    assert.ok(relativeError(await logitsOf(bound, weights), await plain()) < 1e-6);
  });

  it("refuses LoRA targets that the model does not have, as a wrong call", () => {
    const none = { ...lora, targets: ["query", "value"] };
    const refusal = userError(/LoRA targets query, value is a projection/, { exitCode: 2 });
    assert.throws(() => loraSites(model.graph, none), refusal);
  });

  it("refuses a graph whose logits are not a product, or that uses a value before it is made", () => {
    const refuses = (nodes: typeof model.graph.nodes, message: RegExp): void =>
      assert.throws(() => bindModel({ ...model.graph, nodes }, "refused", { dims }), userError(message));
    const nodes = model.graph.nodes.map((n) => (n.outputs[0] === "logits" ? { ...n, op: "Relu" } : n));
    refuses(nodes, /does not come from a Gemm or MatMul \(found Relu\)/);
    const renamed = model.graph.nodes.filter((n) => n.outputs[0] !== "logits");
    refuses(renamed, /found no such output/);
    refuses(model.graph.nodes.toReversed(), /uses ".*" at .* before it is made/);
  });
});

/** A graph as exporters write them: 3-D activations, weights [in, out] of a MatMul, statistics not saved. */
function imported(): RawModel {
  const value = (name: string, shape: readonly Dim[], dtype: Value["dtype"] = "float32") => ({ name, dtype, shape });
  const rng = Rng.named(1, "imported");
  const weight = (name: string, ...shape: number[]): [string, Initializer] => {
    return [name, { value: value(name, shape), data: floatsOf(shape, () => rng.normal()).data }];
  };
  const node = (op: string, inputs: string[], output: string, attributes: RawNode["attributes"] = {}): RawNode => {
    return { name: `/${output}`, op, domain: "", inputs, outputs: [output], attributes };
  };
  return {
    name: "imported",
    opset: 21,
    inputs: [value("input_ids", ["batch", "sequence"], "int64")],
    outputs: [value("logits", ["batch", "sequence", 7])],
    nodes: [
      node("Gather", ["embed.weight", "input_ids"], "x"),
      node("LayerNormalization", ["x", "norm.weight", "norm.bias"], "h", { epsilon: 0.1 }),
      node("Constant", [], "two", { value: { dtype: "float32", shape: [], data: Float32Array.of(2) } }),
      node("MatMul", ["h", "block.q_proj.weight"], "q"),
      node("Mul", ["q", "two"], "q2"),
      node("MatMul", ["q2", "lm_head.weight"], "logits"),
    ],
    initializers: new Map([
      weight("embed.weight", 7, 4),
      weight("norm.weight", 4),
      weight("norm.bias", 4),
      weight("block.q_proj.weight", 4, 6),
      weight("lm_head.weight", 6, 7),
    ]),
    metadata: {},
  };
}

describe("bindModel on an imported graph", () => {
  const input_ids = i64([2, 3], [0, 6, 2, 3, 3, 1]);

  it("finds projections of MatMul, [in, out] as they lie", () => {
    const sites = loraSites(imported(), lora);
    assert.deepEqual(sites, [{ module: "block.q_proj", inFeatures: 4, outFeatures: 6 }]);
  });

  it("trains adapters through 3-D activations and gathers rows of a batch", async () => {
    const raw = imported();
    const bound = bindModel(raw, "training", { dims: { batch: 2, sequence: 3 }, lora, rows: 2 });
    const logits = bound.outputs.logits as Value;
    assert.deepEqual(logits.shape, [2, 7]);
    const [a, b] = bound.parameters as [Value, Value];
    const loss = bound.e.total(bound.e.mul(logits, logits));
    backward(bound.g, loss, [a, b]).forEach((gradient, i) => void bound.g.output(`d${i}`, gradient));
    bound.g.output("loss", loss);
    await runtime.load("training", { bytes: encodeModel(bound.g.build()) });
    const rng = Rng.named(2, "adapter");
    const random = ({ shape }: Value): Tensor => floatsOf(shape as number[], () => rng.normal());
    const feeds: Record<string, Tensor> = {
      input_ids,
      // of the contract, though this graph does without
      position_ids: i64([2, 3], [0, 1, 2, 0, 1, 2]),
      attention_bias: floatsOf([2, 1, 3, 3], () => 0),
      rows: i64([2], [5, 1]),
      [a.name]: random(a),
      [b.name]: random(b),
    };
    const out = await runtime.run("training", { feeds });
    // the gradient along itself
    const step = 1e-4;
    const d = [out.d0, out.d1] as Tensor[];
    const squared = d.reduce((sum, t) => sum + (t.data as Float32Array).reduce((s, x) => s + x * x, 0), 0);
    const scale = step / Math.sqrt(squared);
    const lossAt = async (sign: number): Promise<number> => {
      const moved = { ...feeds };
      [a, b].forEach((p, i) => {
        const tensor = feeds[p.name] as Tensor;
        const data = (tensor.data as Float32Array).map((x, k) => x + sign * scale * Number(d[i]?.data[k]));
        moved[p.name] = { ...tensor, data };
      });
      return Number((await runtime.run("training", { feeds: moved, fetch: ["loss"] })).loss?.data[0]);
    };
    const difference = ((await lossAt(1)) - (await lossAt(-1))) / (2 * step);
    assert.ok(Math.abs(difference / Math.sqrt(squared) - 1) < 0.02, `${difference} against ${Math.sqrt(squared)}`);
  });
});
