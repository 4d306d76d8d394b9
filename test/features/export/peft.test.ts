import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, it } from "node:test";
import { packageRoot, readJson } from "../../../src/core/files.js";
import { Rng } from "../../../src/core/rng.js";
import { loraSites } from "../../../src/nn/bind.js";
import { checkAdapter, freshAdapter, type LoraOptions, type LoraSite, rowsName } from "../../../src/nn/lora.js";
import { type Model, WEIGHTS_FILE } from "../../../src/nn/model.js";
import { ADAPTER, ADAPTER_CONFIG, peftConfig, readPeft, writePeftTensors } from "../../../src/nn/peft.js";
import type { Tensor } from "../../../src/onnx/types.js";
import { readSafetensors, writeSafetensors } from "../../../src/weights/safetensors.js";
import { checkpointLogits } from "../../support/checkpoint-logits.js";
import { relativeError } from "../../support/golden.js";
import { cpuRuntime, temporaryFolder } from "../../support/temporary.js";
import { userError } from "../../support/user-error.js";
import { exported } from "./exported.js";

/** An adapter that PEFT saved, and the logits that it gives with it (scripts/golden/peft_adapter.py). */
const PEFT = join(packageRoot(), "test", "golden", "peft");
const CHECKPOINT = join(packageRoot(), "test", "golden", "checkpoint");
const QWEN3 = join(CHECKPOINT, "qwen3");
const lora: LoraOptions = {
  rank: 4,
  alpha: 8,
  targets: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
};

const refused = (pattern: RegExp, attempt: () => unknown): Promise<void> =>
  assert.rejects(async () => attempt(), userError(pattern));

const runtime = await cpuRuntime();

describe("adapters of Python's PEFT", async () => {
  const model = await exported(QWEN3);
  let adapter: string;
  beforeEach(() => {
    adapter = temporaryFolder("adapter");
    cpSync(PEFT, adapter, { recursive: true });
  });

  const logits = (of: Model, tensors?: ReadonlyMap<string, Tensor>): Promise<Float32Array> =>
    checkpointLogits(runtime, of, tensors === undefined ? undefined : { lora, tensors });
  /** Two tokens of the inputs that the logits are of. */
  const tokensSeen = (): [number, number] => {
    const ids = readSafetensors(join(CHECKPOINT, "expected.safetensors")).get("input_ids")?.data as BigInt64Array;
    const [first, second] = [...new Set(ids)].map(Number);
    return [first as number, second as number];
  };
  const expected = (): Float32Array =>
    readSafetensors(join(PEFT, "expected.safetensors")).get("logits")?.data as Float32Array;

  it("are written as PEFT writes them, byte for byte", () => {
    const path = join(adapter, "again.safetensors");
    const tensors = readPeft(adapter).tensors;
    // in any order: the writer has its own
    writePeftTensors(path, new Map([...tensors].reverse()));
    assert.deepEqual(readFileSync(path), readFileSync(join(PEFT, ADAPTER)));
  });

  it("give here the logits that they give there", async () => {
    const { rank, alpha, tensors } = readPeft(adapter);
    assert.deepEqual({ rank, alpha }, { rank: 4, alpha: 8 });
    checkAdapter(tensors, loraSites(model.graph, lora), lora, adapter);
    assert.ok(relativeError(await logits(model, tensors), expected()) < 1e-5);
    assert.ok(relativeError(await logits(model), expected()) > 0.1, "the adapter changes something");
  });

  it("are merged into 16-bit weights, and from a model directory", async () => {
    const half = await exported(QWEN3, { precision: "bf16" });
    const merged = await exported(half.dir, { adapter });
    assert.ok(relativeError(await logits(merged), await logits(half, readPeft(adapter).tensors)) < 1e-5);
  });

  it("replace rows of the embeddings, beside the model as in merged weights", async () => {
    const { tensors } = readPeft(adapter);
    const [first, second] = tokensSeen();
    const options: LoraOptions = { ...lora, tokens: [first, second] };
    const table = loraSites(model.graph, options).find((site) => site.tokens !== undefined) as LoraSite;
    assert.equal(table.module, "model.embed_tokens");
    const rng = Rng.named(3, "rows");
    const rows = Float32Array.from({ length: 2 * table.outFeatures }, () => rng.normal());
    const shape = [2, table.outFeatures];
    const own = new Map([...tensors, [rowsName(table.module), { dtype: "float32" as const, shape, data: rows }]]);
    checkAdapter(own, loraSites(model.graph, options), options, adapter);
    writePeftTensors(join(adapter, ADAPTER), own);
    await refused(/trainable_token_indices is null, which is not supported \(expected ids/, () => readPeft(adapter));
    const config = peftConfig(options, "models/x", "causal", table.module);
    writeFileSync(join(adapter, ADAPTER_CONFIG), JSON.stringify(config));
    assert.deepEqual(readPeft(adapter).rows, { module: table.module, tokens: [first, second] });
    for (const base of [model, await exported(QWEN3, { precision: "bf16" })]) {
      const beside = await checkpointLogits(runtime, base, { lora: options, tensors: own });
      assert.ok(relativeError(beside, expected()) > 0.1, "the rows change something");
      const merged = await exported(base.dir, { adapter });
      assert.ok(relativeError(await logits(merged), beside) < 1e-5);
    }
  });

  it("begin with the rows that the model has", async () => {
    const options: LoraOptions = { ...lora, tokens: [tokensSeen()[0]] };
    const weights = readSafetensors(join(model.dir, WEIGHTS_FILE)).get("model.embed_tokens.weight");
    const rowOf = ({ outFeatures }: LoraSite, id: number): Float32Array =>
      ((weights as Tensor).data as Float32Array).slice(id * outFeatures, (id + 1) * outFeatures);
    const fresh = freshAdapter(loraSites(model.graph, options), options, Rng.named(0, "adapter"), rowOf);
    assert.deepEqual(await checkpointLogits(runtime, model, { lora: options, tensors: fresh }), await logits(model));
  });

  it("read their own configs back", () => {
    assert.equal(peftConfig(lora, "models/x", "bidirectional").task_type, null);
    const own = peftConfig(lora, "models/x", "causal");
    writeFileSync(join(adapter, ADAPTER_CONFIG), JSON.stringify(own));
    assert.equal(readPeft(adapter).rank, 4);
    const theirs = readJson(join(PEFT, ADAPTER_CONFIG)) as Record<string, unknown>;
    for (const [key, value] of Object.entries(own)) {
      assert.ok(key in theirs, `PEFT has no ${key}`);
      if (key === "target_modules" || key === "base_model_name_or_path") continue;
      assert.deepEqual(value, theirs[key], key);
    }
  });

  it("are refused for merging where they do not fit, tensor by tensor", async () => {
    const { tensors } = readPeft(adapter);
    const [first] = [...tensors.keys()] as [string];
    const attempt = (changed: ReadonlyMap<string, Tensor>): Promise<Model> => {
      writeSafetensors(join(adapter, ADAPTER), changed);
      return exported(QWEN3, { adapter });
    };
    const without = new Map(tensors);
    without.delete(first);
    await refused(/does not hold pairs of .*lora_B/, () => attempt(without));
    const wide = { dtype: "float32", shape: [4, 8], data: new Float32Array(32) } as const;
    await refused(/layers\.0\.mlp\.down_proj\.lora_A\.weight: expected float32 \[4, 96\], got float32 \[4, 8\]/, () =>
      attempt(new Map([...tensors, [first, wide]])),
    );
    const site = { module: "model.layers.9.q_proj", inFeatures: 4, outFeatures: 4 };
    const strange = freshAdapter([site], lora, Rng.named(0, "x"));
    await refused(/the model has no matrix model\.layers\.9\.q_proj\.weight/, () => attempt(strange));
  });
});
