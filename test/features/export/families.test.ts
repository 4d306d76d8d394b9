import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { backward } from "../../../src/autodiff/backward.js";
import { packageRoot, readJson } from "../../../src/core/files.js";
import { checkLength } from "../../../src/engine/graph-check.js";
import { bindModel, loraSites } from "../../../src/nn/bind.js";
import type { Model } from "../../../src/nn/model.js";
import type { Tensor, Value } from "../../../src/onnx/types.js";
import { readSafetensors } from "../../../src/weights/safetensors.js";
import { relativeError } from "../../support/golden.js";
import { letters } from "../../support/micro-model.js";
import { runGraph } from "../../support/run-graph.js";
import { cpuRuntime, temporaryFolder } from "../../support/temporary.js";
import { exported } from "./exported.js";

const GOLDEN = join(packageRoot(), "test", "golden", "families");
const EMBEDDINGS = ["model.embed_tokens.weight", "model.transformer.wte.weight"];

const runtime = await cpuRuntime();

describe("families of checkpoints, against their own code", () => {
  /** Exports a checkpoint; padding is EOS, as in released configs of LLaDA and Dream. @param change of its folder. */
  const made = (name: string, change: (checkpoint: string) => void = () => undefined): Promise<Model> => {
    const checkpoint = temporaryFolder(name);
    cpSync(join(GOLDEN, name), checkpoint, { recursive: true });
    writeFileSync(join(checkpoint, "tokenizer.json"), letters(1));
    change(checkpoint);
    return exported(checkpoint);
  };

  /** Logits at every row, and the gradient that the golden has, through the graph that training makes. */
  const compare = async (model: Model, name: string): Promise<void> => {
    const golden = readSafetensors(join(GOLDEN, `${name}.safetensors`));
    const ids = golden.get("input_ids") as Tensor;
    const [B, N] = ids.shape as [number, number];
    const bound = bindModel(model.graph, "model", { dims: { B, N }, rows: B * N, weights: "input" });
    const { e, g } = bound;
    const logits = bound.outputs.logits as Value;
    const targets = g.input("targets", "int64", [B * N, 1]);
    const loss = e.mul(e.total(e.neg(e.gatherElements(e.logSoftmax(logits), targets, 1))), 1 / (B * N));
    g.output("out", logits);
    // of the embedding, or of every weight where the golden has them
    const all = [...golden.keys()].flatMap((key) => /^gradient\/(.*)/.exec(key)?.[1] ?? []);
    const wanted = bound.parameters.filter(({ name }) => (all.length > 0 ? all : EMBEDDINGS).includes(name));
    assert.equal(wanted.length, Math.max(1, all.length));
    const names = wanted.map(({ name }) => (all.length > 0 ? `gradient/${name}` : "gradient"));
    for (const [i, gradient] of backward(g, loss, wanted).entries()) g.output(names[i] as string, gradient as Value);
    const weights = readSafetensors(join(model.dir, "model.safetensors"));
    const rows = BigInt64Array.from({ length: B * N }, (_, i) => BigInt(i));
    const feeds = {
      ...Object.fromEntries(bound.parameters.map(({ name }) => [name, weights.get(name) as Tensor])),
      ...Object.fromEntries(model.graph.inputs.map(({ name }) => [name, golden.get(name) as Tensor])),
      rows: { dtype: "int64", shape: [B * N], data: rows } as Tensor,
      targets: { ...ids, shape: [B * N, 1] },
    };
    const out = await runGraph(runtime, g.build(), feeds, model.dir);
    for (const [name, expected] of [["out", "logits"] as const, ...names.map((name) => [name, name] as const)]) {
      const error = relativeError(
        (out[name] as Tensor).data as Float32Array,
        golden.get(expected)?.data as Float32Array,
      );
      assert.ok(error < 1e-5, `${expected}: ${error}`);
    }
  };

  for (const [name, architecture, longest] of [
    ["llama", "refusion"],
    ["llama-linear", "refusion"],
    ["llama-dynamic", "refusion", 64],
    ["llama-llama3", "refusion"],
    ["llama-yarn", "refusion"],
    ["llama-yarn-mscale", "refusion"],
    ["mistral", "refusion"],
    ["mistral-window", "refusion", 12],
    ["qwen2", "refusion"],
    ["qwen3", "refusion"],
    ["qwen3-fp8", "refusion"],
    ["smollm3", "refusion"],
    ["a2d-qwen3", "masked_lm"],
    ["sdar", "masked_lm"],
    ["llada", "masked_lm"],
    ["dream", "masked_lm"],
  ] as [string, string, number?][]) {
    it(`${name}: logits and gradients`, async () => {
      const model = await made(name);
      assert.equal(model.config.longest, longest);
      if (longest !== undefined) assert.throws(() => checkLength(model, longest + 1, "the sum"), /computed right for/);
      assert.equal(model.config.architecture, architecture);
      assert.equal(model.config.pad_token_id, model.config.eos_token_id);
      assert.equal(model.config.attention_block, name === "sdar" ? 4 : undefined);
      await compare(model, name);
    });
  }

  it("is_causal: false makes the mask bidirectional, as in transformers 5.2 and later", async () => {
    const model = await made("a2d-qwen3", (checkpoint) => {
      const config = readJson(join(checkpoint, "config.json")) as object;
      const named = { ...config, model_type: "qwen3", architectures: ["Qwen3ForCausalLM"], is_causal: false };
      writeFileSync(join(checkpoint, "config.json"), JSON.stringify(named));
    });
    await compare(model, "a2d-qwen3");
  });

  it("FP8 with scales of activations and of the K/V cache, which leave the weights as they are", async () => {
    const model = await made("qwen3-fp8", (checkpoint) => {
      const path = join(checkpoint, "model.safetensors");
      // FP8 tensors are codes: the header is extended in place
      const bytes = readFileSync(path);
      const size = Number(bytes.readBigUInt64LE());
      const header = JSON.parse(bytes.toString("utf8", 8, 8 + size));
      const end = bytes.length - 8 - size;
      for (const [i, name] of ["q_proj.input_scale", "k_proj.k_scale", "v_proj.output_scale"].entries()) {
        const data_offsets = [end + 4 * i, end + 4 * i + 4];
        header[`model.layers.0.self_attn.${name}`] = { dtype: "F32", shape: [1], data_offsets };
      }
      const head = Buffer.from(JSON.stringify(header));
      const length = Buffer.from(BigUint64Array.of(BigInt(head.length)).buffer);
      const scales = Buffer.from(Float32Array.of(2, 3, 4).buffer);
      writeFileSync(path, Buffer.concat([length, head, bytes.subarray(8 + size), scales]));
    });
    await compare(model, "qwen3-fp8");
  });

  it("LLaDA keeps its own names, so that its adapters are PEFT's", async () => {
    const model = await made("llada");
    const lora = { rank: 1, alpha: 1, targets: ["blocks.0.ff_out", "attn_out"] };
    assert.deepEqual(
      loraSites(model.graph, lora).map(({ module }) => module),
      ["0.attn_out", "0.ff_out", "1.attn_out"].map((site) => `model.transformer.blocks.${site}`),
    );
    // what was made is a checkpoint of the family again
    const config = readJson(join(model.dir, "config.json")) as Record<string, unknown>;
    assert.deepEqual([config.d_model, config.model_type], [16, "llada"]);
    const files = [model, await exported(model.dir)].map(({ dir }) => readSafetensors(join(dir, "model.safetensors")));
    assert.deepEqual(files[0], files[1]);
  });

  it("GGUF: weights of all forms, q and k in Hugging Face's order, and the tokenizer", async () => {
    const model = await exported(join(GOLDEN, "llama.gguf"), { tokens: { mask: "<mask>" } });
    const { config, tokenizer } = model;
    assert.deepEqual(
      [config.mask_token_id, config.eos_token_id, config.rope_theta],
      [tokenizer?.idOf("<mask>"), 2, 5000],
    );
    const golden = readSafetensors(join(GOLDEN, "gguf.safetensors"));
    const feeds = Object.fromEntries(model.graph.inputs.map(({ name }) => [name, golden.get(name) as Tensor]));
    const logits = (await runGraph(runtime, model.graph, feeds, model.dir)).logits as Tensor;
    const error = relativeError(logits.data as Float32Array, golden.get("logits")?.data as Float32Array);
    assert.ok(error < 1e-5, `logits: ${error}`);
    for (const { text, ids } of readJson(join(GOLDEN, "strings.json")) as { text: string; ids: number[] }[]) {
      if (!/<\|\w+\|>/.test(text)) assert.deepEqual(tokenizer?.encode(text), ids);
      assert.equal(tokenizer?.decode(ids), text);
    }
  });
});
