import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, test } from "node:test";
import { parse } from "yaml";
import { packageRoot } from "../../../src/core/files.js";
import { newModel, newModelSchema } from "../../../src/features/new-model/new-model.js";
import { loadModel } from "../../../src/nn/model.js";
import type { Tensor } from "../../../src/onnx/types.js";
import { callProgram } from "../../support/call-program.js";
import { runGraph } from "../../support/run-graph.js";
import { cpuRuntime, temporaryFolder } from "../../support/temporary.js";

const CONFIGS = join(packageRoot(), "configs", "tiny");
const [B, N] = [2, 6];

/** Feeds of any input that the contract knows. */
function feed(name: string): Tensor {
  if (name === "input_ids" || name === "position_ids")
    return { dtype: "int64", shape: [B, N], data: BigInt64Array.from({ length: B * N }, (_, i) => BigInt(i % N)) };
  if (name === "attention_bias") return { dtype: "float32", shape: [B, 1, N, N], data: new Float32Array(B * N * N) };
  if (name === "time" || name === "step") return { dtype: "float32", shape: [B], data: new Float32Array(B).fill(0.5) };
  throw new Error(`the contract has no input ${name}`);
}

const runtime = await cpuRuntime();

describe("new-model", () => {
  for (const file of readdirSync(CONFIGS).filter((name) => name.endsWith("model.yaml"))) {
    it(`makes the model of configs/tiny/${file}, and it runs`, async () => {
      const dir = temporaryFolder("model");
      // a short corpus: the vocabulary is smaller than the config's
      const config = { ...parse(readFileSync(join(CONFIGS, file), "utf8")), synthetic_tasks: 0, vocab_size: 300 };
      const { parameters, vocabulary } = await newModel(newModelSchema.parse(config), dir);
      assert.ok(parameters > 1.4e6 && parameters < 2e6, `${parameters}`);
      const model = await loadModel(dir);
      assert.equal(model.config.vocab_size, vocabulary);
      const feeds = Object.fromEntries(model.graph.inputs.map(({ name }) => [name, feed(name)]));
      const logits = (await runGraph(runtime, model.graph, feeds, dir)).logits as Tensor;
      assert.deepEqual(logits.shape, [B, N, vocabulary]);
      assert.ok((logits.data as Float32Array).every(Number.isFinite));
    });
  }
});

const dir = temporaryFolder("cli-new-model");

test("new-model finds a shipped config from any folder, and says what is missing in one", async () => {
  const run = (config: string) => callProgram("train", dir, ["new-model", "--config", config, "--out", "model"]);
  const shipped = await run("configs/tiny/rl.yaml");
  assert.equal(shipped.code, 2);
  const wanted = /\S+configs\/tiny\/rl\.yaml is not usable:\n[\s\S]* {2}model: expected object[\s\S]*next: /;
  assert.match(shipped.err, wanted);
  writeFileSync(join(dir, "mine.yaml"), "synthetic_tasks: 0\nmodel: {architecture: refusion, attention: causal}\n");
  const mine = await run("mine.yaml");
  assert.notEqual(mine.code, 0);
  assert.match(mine.err, /num_hidden_layers: is missing/);
  assert.doesNotMatch(mine.err, /undefined/);
  assert.deepEqual(readdirSync(dir), ["mine.yaml"], "nothing is left");
});
