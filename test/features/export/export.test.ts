import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, it } from "node:test";
import { packageRoot, readJson } from "../../../src/core/files.js";
import type { ExportOptions } from "../../../src/features/export/options.js";
import type { Model } from "../../../src/nn/model.js";
import { f32, i64 } from "../../../src/onnx/tensors.js";
import type { Tensor } from "../../../src/onnx/types.js";
import type { Tokenizer } from "../../../src/text/tokenizer.js";
import { openSafetensors, readSafetensors, writeSafetensors } from "../../../src/weights/safetensors.js";
import { runGraph } from "../../support/run-graph.js";
import { cpuRuntime, temporaryFolder } from "../../support/temporary.js";
import { userError } from "../../support/user-error.js";
import { exported } from "./exported.js";

const GOLDEN = join(packageRoot(), "test", "golden", "checkpoint");
const SHARD = "model-00002-of-00003.safetensors";
const INDEX = "model.safetensors.index.json";

const runtime = await cpuRuntime();

describe("export of a Hugging Face checkpoint", () => {
  const golden = readSafetensors(join(GOLDEN, "expected.safetensors"));
  let root: string;
  let checkpoint: string;
  let out: string;
  beforeEach(() => {
    root = temporaryFolder("export");
    checkpoint = join(root, "checkpoint");
    out = join(root, "model");
    cpSync(join(GOLDEN, "qwen3"), checkpoint, { recursive: true });
  });

  const run = (options: Partial<ExportOptions> = {}): Promise<Model> =>
    exported(options.checkpoint ?? checkpoint, { out, ...options });
  const change = (changes: Record<string, unknown>): void => {
    const config = readJson(join(checkpoint, "config.json")) as object;
    writeFileSync(join(checkpoint, "config.json"), JSON.stringify({ ...config, ...changes }));
  };
  /** Nothing is left of an export that was refused, and the message names what is wrong. */
  const refused = async (pattern: RegExp, options: Partial<ExportOptions> = {}): Promise<void> => {
    const there = readdirSync(root);
    await assert.rejects(run(options), userError(pattern));
    assert.deepEqual(readdirSync(root), there);
  };
  async function largestError(model: Model, expected: string): Promise<number> {
    const names = ["input_ids", "position_ids", "attention_bias"];
    const feeds = Object.fromEntries(names.map((name) => [name, golden.get(name) as Tensor]));
    const logits = (await runGraph(runtime, model.graph, feeds, model.dir)).logits as Tensor;
    const target = golden.get(expected)?.data as Float32Array;
    return (logits.data as Float32Array).reduce(
      (worst, x, i) => Math.max(worst, Math.abs(x - (target[i] as number))),
      0,
    );
  }

  it("gives transformers' own logits, with a head of its own and with a tied one", async () => {
    assert.ok((await largestError(await run(), "logits")) < 1e-4);
    change({ tie_word_embeddings: true });
    // as a merged LoRA of lm_head leaves it: transformers keeps a head that differs from the embedding
    const kept = await run({ out: join(root, "kept") });
    assert.equal(kept.config.tie_word_embeddings, false);
    assert.ok((await largestError(kept, "logits")) < 1e-4);
    const [embedding, head] = ["model.embed_tokens.weight", "lm_head.weight"];
    for (const file of readdirSync(checkpoint).filter((name) => name.endsWith(".safetensors"))) {
      const tensors = readSafetensors(join(checkpoint, file));
      if (!tensors.has(head)) continue;
      const { weight_map: map } = readJson(join(checkpoint, INDEX)) as { weight_map: Record<string, string> };
      tensors.set(head, readSafetensors(join(checkpoint, map[embedding] as string)).get(embedding) as Tensor);
      writeSafetensors(join(checkpoint, file), tensors);
    }
    const tied = await run({ out: join(root, "tied") });
    assert.ok(!openSafetensors(join(tied.dir, "model.safetensors")).tensors.has("lm_head.weight"));
    assert.ok((await largestError(tied, "logits_tied")) < 1e-4);
  });

  it("keeps bf16 weights exactly, whatever the form that holds them", async () => {
    const model = await run({ precision: "bf16" });
    assert.ok((await largestError(model, "logits")) < 1e-4);
    const [ours, theirs] = [readSafetensors(join(out, "model.safetensors")), readSafetensors(join(checkpoint, SHARD))];
    let compared = 0;
    for (const [name, tensor] of theirs) {
      if (tensor.shape.length < 2) continue;
      assert.deepEqual(ours.get(name), tensor, name);
      compared++;
    }
    assert.ok(compared > 3);
  });

  it("resolves special tokens, and keeps the checkpoint's keys", async () => {
    const { config, tokenizer } = await run();
    const { architecture, attention, model_type, rope_theta } = config;
    assert.deepEqual([architecture, attention, model_type, rope_theta], ["refusion", "causal", "qwen3", 10000]);
    const tokensOf = ({ mask_token_id, eos_token_id, pad_token_id }: Model["config"]): unknown[] =>
      [mask_token_id, eos_token_id, pad_token_id].map((id) => (tokenizer as Tokenizer).decode([id as number]));
    assert.deepEqual(tokensOf(config), ["<|mask|>", "<|im_end|>", "<|endoftext|>"]);
    const chosen = await run({ out: join(root, "chosen"), tokens: { mask: "<think>", eos: "<|im_start|>" } });
    assert.deepEqual(tokensOf(chosen.config), ["<think>", "<|im_start|>", "<|endoftext|>"]);
    await refused(/--pad-token "<nothing>" is no token/, { out: join(root, "no"), tokens: { pad: "<nothing>" } });
    writeFileSync(join(checkpoint, "added_tokens.json"), "{}");
    await refused(/does not say mask_token_id, and the tokenizer has no <\|mask\|>/, { out: join(root, "no") });
  });

  it("reads one file as well as shards, in float32 and float16", async () => {
    const tensors = readSafetensors(join(await run().then((m) => m.dir), "model.safetensors"));
    for (const file of readdirSync(checkpoint)) if (file.includes("safetensors")) rmSync(join(checkpoint, file));
    writeSafetensors(join(checkpoint, "model.safetensors"), tensors);
    assert.ok((await largestError(await run({ out: join(root, "single") }), "logits")) < 1e-4);
    const half = await run({ out: join(root, "half"), precision: "fp16" });
    // bf16 has fewer digits than fp16: only what is below 2^-14 is rounded
    assert.ok((await largestError(half, "logits")) < 1e-2);
  });

  it("says how far it is, and stops where it is told to", async () => {
    const seen: number[] = [];
    await run({ progress: ({ done }) => seen.push(done) });
    assert.ok(seen.length > 30 && seen.every((done, i) => i === 0 || done > (seen[i - 1] as number)));
    const controller = new AbortController();
    const there = readdirSync(root);
    const stopped = run({ out: join(root, "stopped"), signal: controller.signal, progress: () => controller.abort() });
    await assert.rejects(stopped, { name: "AbortError" });
    assert.deepEqual(readdirSync(root), there);
  });

  it("leaves tokens out, and computes the same for those that stay", async () => {
    const text = "the lazy dog";
    const [whole, pruned] = [await run(), await run({ out: join(root, "pruned"), keepTokens: text })];
    const read = ({ tokenizer, config }: Model): number[] =>
      (tokenizer as Tokenizer).encode(text).concat(config.mask_token_id);
    const [ids, places] = [read(whole), read(pruned)];
    assert.ok(pruned.config.vocab_size < whole.config.vocab_size - 20);
    assert.equal(pruned.config.mask_token_id, pruned.tokenizer?.idOf("<|mask|>"));
    assert.equal(pruned.config.eos_token_id, pruned.tokenizer?.idOf("<|im_end|>"));
    const logits = async (model: Model, tokens: number[]): Promise<number[][]> => {
      const n = tokens.length;
      const ints = (values: Iterable<number>): Tensor => i64([1, n], BigInt64Array.from(values, BigInt));
      const attention_bias = f32([1, 1, n, n], new Float32Array(n * n));
      const feeds = { input_ids: ints(tokens), position_ids: ints(tokens.keys()), attention_bias };
      const out = (await runGraph(runtime, model.graph, feeds, model.dir)).logits as Tensor;
      const v = model.config.vocab_size;
      return tokens.map((_, row) => Array.from(out.data.subarray(row * v, (row + 1) * v) as Float32Array));
    };
    const [all, some] = [await logits(whole, ids), await logits(pruned, places)];
    some.forEach((row, i) => {
      ids.forEach((id, j) => {
        assert.ok(Math.abs((row[places[j] as number] as number) - (all[i]?.[id] as number)) < 1e-5);
      });
    });
  });

  it("refuses damaged files, by name and before anything is written", async () => {
    const shard = join(checkpoint, SHARD);
    const whole = readFileSync(shard);
    truncateSync(shard, whole.length - 100);
    await refused(/model-00002-of-00003\.safetensors is not a valid safetensors file: .*truncated/);
    writeFileSync(shard, Buffer.concat([Buffer.alloc(8, 255), whole.subarray(8)]));
    await refused(/model-00002-of-00003\.safetensors is not a valid safetensors file/);
    writeFileSync(shard, Buffer.concat([whole.subarray(0, 8), Buffer.from("}"), whole.subarray(9)]));
    await refused(/its header is not JSON/);
    rmSync(shard);
    await refused(/1 of the 3 shards that .* lists are missing: model-00002-of-00003/);
    writeFileSync(join(checkpoint, INDEX), "{");
    await refused(/index\.json is not valid JSON/);
    writeFileSync(join(checkpoint, INDEX), JSON.stringify({ weight_map: { x: "../x.safetensors" } }));
    await refused(/names the shard "\.\.\/x\.safetensors", which is not in/);
    rmSync(join(checkpoint, INDEX));
    await refused(/There are no weights in .*: neither model\.safetensors nor/);
  });

  it("refuses weights that are not the config's, each by name", async () => {
    const shard = join(checkpoint, SHARD);
    const tensors = readSafetensors(shard);
    const [name] = [...tensors.keys()].filter((key) => key.endsWith("up_proj.weight"));
    const tensor = tensors.get(name as string) as Tensor;
    writeSafetensors(shard, new Map([...tensors, [name as string, { ...tensor, shape: [...tensor.shape].reverse() }]]));
    await refused(new RegExp(`${name}: expected \\[96, 64\\], got \\[64, 96\\]`));
    tensors.delete(name as string);
    writeSafetensors(shard, tensors);
    await refused(new RegExp(`says that ${SHARD} holds ${name}, but it does not`));
    const index = readJson(join(checkpoint, INDEX)) as { weight_map: Record<string, string> };
    delete index.weight_map[name as string];
    writeFileSync(join(checkpoint, INDEX), JSON.stringify(index));
    await refused(new RegExp(`missing ${name} \\[96, 64\\]`));
    const bias = { dtype: "float32", shape: [64], data: new Float32Array(64) } as const;
    writeSafetensors(
      shard,
      new Map([...tensors, [name as string, tensor], ["model.layers.0.self_attn.q_proj.bias", bias]]),
    );
    await refused(/unexpected model\.layers\.0\.self_attn\.q_proj\.bias/);
  });

  it("names the way in which weights are quantised, where it is not read", async () => {
    const shard = join(checkpoint, SHARD);
    const tensors = readSafetensors(shard);
    const name = [...tensors.keys()].find((key) => key.endsWith("up_proj.weight")) as string;
    const packed: Tensor = { dtype: "int32", shape: [8, 96], data: new Int32Array(768) };
    const module = name.replace(/weight$/, "");
    for (const [quantization_config, parts, said] of [
      [{ quant_method: "gptq", bits: 4 }, ["qweight", "qzeros"], /quantised \(quant_method gptq, bits 4\)/],
      [{ quant_method: "awq", bits: 4 }, ["qweight", "scales"], /quant_method awq/],
      [{ quant_method: "compressed-tensors", format: "pack-quantized" }, ["weight_packed"], /format pack-quantized/],
      [{ quant_method: "modelopt", quant_algo: "NVFP4" }, ["weight_scale"], /modelopt, quant_algo NVFP4/],
      [undefined, ["SCB"], /config\.json does not say how/],
    ] as const) {
      change({ quantization_config });
      const kept = [...tensors].filter(([key]) => key !== name);
      writeSafetensors(shard, new Map([...kept, ...parts.map((part): [string, Tensor] => [module + part, packed])]));
      const { weight_map: map } = readJson(join(GOLDEN, "qwen3", INDEX)) as { weight_map: Record<string, string> };
      const { [name]: _, ...others } = map;
      writeFileSync(join(checkpoint, INDEX), JSON.stringify({ weight_map: others }));
      await assert.rejects(run(), userError(said, { hint: /Take the release in BF16/ }));
    }
  });

  it("refuses weights that are not finite, or too large for their form", async () => {
    const shard = join(checkpoint, SHARD);
    const tensors = readSafetensors(shard);
    const damaged = (bits: number): string => {
      const [name, tensor] = [...tensors].find(([, { shape }]) => shape.length === 2) as [string, Tensor];
      const data = (tensor.data as Uint16Array).slice();
      data[17] = bits;
      writeSafetensors(shard, new Map([...tensors, [name, { ...tensor, data }]]));
      return name;
    };
    const name = damaged(0x7fc0);
    await refused(new RegExp(`The weight ${name} holds NaN: the checkpoint is damaged`));
    damaged(0x4800 + 0x80);
    await refused(/holds 262144, which float16 cannot/, { precision: "fp16" });
  });

  it("refuses what it would compute otherwise, key by key", async () => {
    const cases: [Record<string, unknown>, RegExp][] = [
      [{ architectures: ["GemmaForCausalLM"], model_type: "gemma" }, /the architecture GemmaForCausalLM, gemma is not/],
      [{ architectures: undefined, model_type: undefined }, /the architecture \(none named\) is not supported/],
      [{ rope_scaling: { type: "yarn", factor: 4 } }, /rope_scaling is .*yarn.*the scaling of rope_parameters/],
      [{ rope_parameters: { rope_type: "linear" } }, /rope_parameters is .*linear/],
      [{ rope_parameters: { rope_type: "longrope", factor: 2 } }, /rope_parameters is .*longrope/],
      [{ rope_parameters: { full_attention: { rope_theta: 1e6 } } }, /rope_parameters is .*one rope for all layers/],
      [{ attention_bias: true }, /missing model\.layers\.0\.self_attn\.q_proj\.bias \[64\]/],
      [{ mlp_bias: true }, /mlp_bias is true, which is not supported \(expected false\)/],
      [{ hidden_act: "gelu" }, /hidden_act is "gelu"/],
      [{ layer_types: ["sliding_attention"] }, /layer_types is \["sliding_attention"\]/],
      [{ rope_interleaved: true }, /rope_interleaved is true, which is not supported \(expected false\)/],
      [{ partial_rotary_factor: 0.5 }, /partial_rotary_factor is 0\.5/],
      [{ rope_parameters: { rope_theta: 1e4, partial_rotary_factor: 0.5 } }, /rope_parameters is .*0\.5/],
      [{ rope_parameters: { rope_theta: 1e4, mrope_section: [1, 2] } }, /rope_parameters is .*mrope/],
      [{ rope_scaling: 4 }, /rope_scaling is 4/],
      [{ use_sliding_window: true, sliding_window: "128" }, /sliding_window is "128"/],
      [{ hidden_activation: "gelu_pytorch_tanh" }, /hidden_activation is "gelu_pytorch_tanh"/],
      [{ hidden_size: "64" }, /hidden_size/],
      [{ vocab_size: 100 }, /has 336 tokens, its config only vocab_size 100/],
      [{ eos_token_id: "x" }, /eos_token_id is "x", expected an id/],
    ];
    const original = readFileSync(join(checkpoint, "config.json"));
    for (const [changes, pattern] of cases) {
      change(changes);
      await refused(pattern);
      writeFileSync(join(checkpoint, "config.json"), original);
    }
    rmSync(join(checkpoint, "config.json"));
    await refused(/Cannot read .*config\.json/);
    await refused(/There is no checkpoint .*nowhere/, { checkpoint: join(root, "nowhere") });
  });

  it("reads config.json as older versions of transformers wrote it", async () => {
    // and with what published configs hold besides, none of which changes a forward
    change({ attention_dropout: 0.1, initializer_range: 0.02, rope_interleaved: false, pretraining_tp: 2 });
    change({ use_sliding_window: false, sliding_window: 4096, max_window_layers: 28, output_attentions: true });
    change({ flash_attention: true, max_position_embeddings: 8192, attn_logit_softcapping: null });
    change({
      unsloth_version: "1",
      rope_parameters: undefined,
      rope_theta: 10000,
      rope_scaling: null,
      eos_token_id: [332, 330],
    });
    const { config } = await run();
    assert.deepEqual(config.eos_token_id, [332, 330]);
    assert.ok(existsSync(join(out, "model.onnx")));
    change({ rope_parameters: { rope_type: "default", rope_theta: 500000 }, rope_theta: 10000 });
    assert.equal((await run({ out: join(root, "newer") })).config.rope_theta, 500000);
  });
});
