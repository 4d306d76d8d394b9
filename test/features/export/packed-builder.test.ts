import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, test } from "node:test";
import { backward } from "../../../src/autodiff/backward.js";
import { ALL_LAYERS } from "../../../src/autodiff/recompute.js";
import { baseSample, checkBase } from "../../../src/engine/base-sample.js";
import { bindModel, loraSites } from "../../../src/nn/bind.js";
import type { ModelConfig } from "../../../src/nn/config.js";
import { loadModel } from "../../../src/nn/model.js";
import { BYTES, type Value } from "../../../src/onnx/types.js";
import { STATE } from "../../../src/runs/checkpoint.js";
import { PRECISIONS, type Precision } from "../../../src/weights/precision.js";
import { openSafetensors } from "../../../src/weights/safetensors.js";
import { relativeError } from "../../support/golden.js";
import { microModel } from "../../support/micro-model.js";
import { cpuRuntime, temporaryFolder } from "../../support/temporary.js";
import { DIMS, LORA, PROJECTIONS, trainingGraph, trainingOutputs } from "../../support/training-graph.js";
import { userError } from "../../support/user-error.js";
import { exported, FOUR_BITS } from "./exported.js";

/** The scales of its rows of 320 fill no whole block of 256. */
const CONFIG: ModelConfig = { ...FOUR_BITS, intermediate_size: 320, tie_word_embeddings: true };
const runtime = await cpuRuntime();

const base = await microModel(CONFIG);

describe("packed weights", () => {
  const FORMS: readonly (readonly [Precision, boolean])[] = [
    ["bf16", false],
    ["fp16", false],
    ["nf4", false],
    ["nf4", true],
  ];
  for (const [precision, doubleQuant] of FORMS) {
    it(`${precision}${doubleQuant ? ", scales quantised" : ""}: logits and every gradient are those of the same weights in float32`, async () => {
      const packed = await exported(base, { precision, doubleQuant });
      // reads the packed weights back: not the originals
      const twin = await exported(packed.dir);
      const [got, expected] = [await trainingOutputs(runtime, packed), await trainingOutputs(runtime, twin)];
      assert.ok(relativeError(got.logits, expected.logits) < 1e-5, "logits");
      assert.equal(got.gradients.size, 2 * PROJECTIONS);
      for (const [name, gradient] of expected.gradients) {
        assert.ok(gradient.some((x) => x !== 0));
        const error = relativeError(got.gradients.get(name) as Float32Array, gradient);
        assert.ok(error < 1e-5, `${name}: ${error}`);
      }
      // with gradient checkpointing weights are decoded for each layer's second pass as well
      const recomputed = await trainingOutputs(runtime, packed, trainingGraph(packed, { layers: ALL_LAYERS }));
      for (const [name, gradient] of recomputed.gradients)
        assert.ok(relativeError(gradient, expected.gradients.get(name) as Float32Array) < 1e-5, name);
      // and the packing is no identity
      const original = await trainingOutputs(runtime, await loadModel(base));
      assert.ok(relativeError(got.logits, original.logits) > 1e-4);
    });
  }

  it("finds the same adapter sites in every form", async () => {
    const sites = loraSites((await loadModel(base)).graph, LORA);
    for (const [precision, doubleQuant] of FORMS)
      assert.deepEqual(loraSites((await exported(base, { precision, doubleQuant })).graph, LORA), sites, precision);
  });

  it("keeps vectors, embedding and head out of 4 bits, and is smaller", async () => {
    const size = (dir: string): number => {
      const tensors = [...openSafetensors(join(dir, "model.safetensors")).tensors.values()];
      return tensors.reduce((sum, { length }) => sum + length, 0);
    };
    const plain = await exported(base, { precision: "nf4" });
    const { tensors } = openSafetensors(join(plain.dir, "model.safetensors"));
    assert.equal(tensors.get("model.embed_tokens.weight")?.dtype, "float32");
    assert.equal(tensors.get("model.norm.weight")?.dtype, "float32");
    const { dtype, length } = tensors.get("model.layers.0.mlp.up_proj.weight") ?? {};
    assert.deepEqual([dtype, length], ["uint8", (64 * 320) / 2]);
    const nested = await exported(base, { precision: "nf4", doubleQuant: true });
    assert.ok(size(plain.dir) < 0.25 * size(base));
    const parts = openSafetensors(join(nested.dir, "model.safetensors")).tensors;
    const scales = [...parts].filter(([name]) => name.endsWith(".absmax"));
    assert.ok(scales.length > 0 && scales.every(([, { dtype }]) => BYTES[dtype] === 1));
  });

  it("keeps the bf16 of a checkpoint beside 4-bit projections", async () => {
    const half = await exported(base, { precision: "bf16" });
    const { dir } = await exported(half.dir, { precision: "nf4" });
    const { tensors } = openSafetensors(join(dir, "model.safetensors"));
    assert.equal(tensors.get("model.embed_tokens.weight")?.dtype, "bfloat16");
  });

  it("decodes a weight once for each pass, behind what it meets there", async () => {
    const { graph } = await exported(base, { precision: "nf4" });
    const { g, e, outputs, parameters } = bindModel(graph, "count", { dims: DIMS, lora: LORA, rows: 5 });
    backward(g, e.total(outputs.logits as Value), parameters);
    const nodes = g.nodes;
    const weights = PROJECTIONS;
    assert.equal(nodes.filter((n) => n.op === "MatMulBnb4").length, weights);
    // the first layer's q, k and v need no gradient of their input
    const decoded = nodes.filter((n) => n.op === "Gather" && n.inputs[1]?.dtype === "int32");
    assert.ok(decoded.length >= weights - 3 && decoded.length <= weights, String(decoded.length));
    // nothing is made from constants alone: a runtime would fold it
    const constants = new Set(g.initializers.keys());
    for (const node of nodes) {
      const inputs = node.inputs.filter((v) => v !== undefined);
      const big = inputs.some((v) => g.initializers.has(v.name) && (v.shape[0] as number) > 256);
      if (big) assert.ok(!inputs.every((v) => constants.has(v.name)), node.name);
    }
  });

  it("decodes 16-bit weights once more where a layer is computed again", async () => {
    const { graph } = await exported(base, { precision: "bf16" });
    const { g, e, outputs, parameters } = bindModel(graph, "again", { dims: DIMS, lora: LORA, rows: 5 });
    backward(g, e.total(outputs.logits as Value), parameters, new Map(), { layers: ALL_LAYERS });
    const producers = new Map(g.nodes.flatMap((n) => n.outputs.map((o) => [o.name, n] as const)));
    const decoded = g.nodes
      .filter((n) => n.op === "Gemm" && n.name.includes("/recompute/"))
      .map((n) => producers.get(n.inputs[1]?.name ?? ""))
      .filter((n) => n?.op === "Cast");
    // a matrix of the first pass would have to be kept for the second
    assert.equal(decoded.length, PROJECTIONS);
    for (const node of decoded) assert.ok(node?.name.includes("/recompute/"), node?.name);
  });

  it("refuses to train all weights where they are packed", async () => {
    const { graph } = await exported(base, { precision: "bf16" });
    assert.throws(
      () => bindModel(graph, "full", { dims: DIMS, weights: "input" }),
      userError(/is stored as bfloat16; only float32 can be/),
    );
  });

  it("refuses rows that are not whole blocks", async () => {
    const refused = exported(await microModel(), { precision: "nf4" });
    await assert.rejects(refused, userError(/q_proj.* cannot be kept in 4 bits/));
  });
});

test("an adapter is taken for its own base in any precision, and for no other model of its shapes", async () => {
  const base = await loadModel("models/tiny-refusion");
  const root = temporaryFolder("base");
  writeFileSync(join(root, STATE), JSON.stringify({ state: { base: baseSample(base) } }));
  for (const precision of PRECISIONS) checkBase(root, await exported("models/tiny-refusion", { precision }));
  for (const other of ["models/tiny-refusion-template", "models/tiny-refusion-letters", "models/tiny-masked-lm"]) {
    const model = await loadModel(other);
    assert.throws(() => checkBase(root, model), /was trained on another model than models\/tiny/);
  }
});

test("a directory that says nothing of its base is taken", async () => {
  const model = await loadModel("models/tiny-refusion");
  for (const text of ["{", "[]", '{"state":{"base":["x"]}}', '{"state":{}}']) {
    const dir = temporaryFolder("none");
    if (text !== "{") writeFileSync(join(dir, STATE), text);
    checkBase(dir, model);
  }
});
