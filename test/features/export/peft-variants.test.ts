import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot, readJson } from "../../../src/core/files.js";
import { exportAdapter } from "../../../src/features/export/adapter.js";
import { loraSites } from "../../../src/nn/bind.js";
import { checkAdapter, type LoraOptions } from "../../../src/nn/lora.js";
import { ADAPTER, ADAPTER_CONFIG, readPeft, writePeftTensors } from "../../../src/nn/peft.js";
import type { Tensor } from "../../../src/onnx/types.js";
import { openSafetensors, readSafetensors } from "../../../src/weights/safetensors.js";
import { checkpointLogits } from "../../support/checkpoint-logits.js";
import { relativeError } from "../../support/golden.js";
import { cpuRuntime, temporaryFolder } from "../../support/temporary.js";
import { userError } from "../../support/user-error.js";
import { exported } from "./exported.js";

/** Adapters that PEFT saved, and four rows of the logits that it gives with them (scripts/golden/peft_variants.py). */
const GOLDEN = join(packageRoot(), "test", "golden", "peft-variants.safetensors");
const CHECKPOINT = join(packageRoot(), "test", "golden", "checkpoint", "qwen3");

/** The kinds that are refused, with the key that names the reason. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  pissa: /init_lora_weights is "pissa"/,
  pissa_niter: /init_lora_weights is "pissa_niter_4"/,
  olora: /init_lora_weights is "olora"/,
  dora: /use_dora is true/,
  lora_bias: /lora_bias is true/,
  "bias all": /bias is "all"/,
  modules_to_save: /modules_to_save is \["lm_head"\]/,
  embedding: /does not hold pairs of/,
  target_parameters: /target_parameters is|does not hold pairs of/,
  alora: /alora_invocation_tokens is \[1,2\]/,
};

const runtime = await cpuRuntime();

describe("LoRA variants of Python's PEFT", async () => {
  const tensors = readSafetensors(GOLDEN);
  const about = openSafetensors(GOLDEN).metadata;
  const configs = JSON.parse(about.configs as string) as Record<string, Record<string, unknown>>;
  const rows = JSON.parse(about.rows as string) as number[];
  const model = await exported(CHECKPOINT);

  const tensorsOf = (kind: string): Map<string, Tensor> =>
    new Map(
      [...tensors].flatMap(([name, tensor]) =>
        name.startsWith(`${kind}/`) && !name.endsWith("/logits") ? [[name.slice(kind.length + 1), tensor]] : [],
      ),
    );
  const written = (kind: string, changes: object = {}): string => {
    const dir = temporaryFolder("adapter");
    writeFileSync(join(dir, ADAPTER_CONFIG), JSON.stringify({ ...configs[kind], ...changes }));
    writePeftTensors(join(dir, ADAPTER), tensorsOf(kind));
    return dir;
  };
  const seen = (logits: Float32Array): Float32Array => {
    const width = model.config.vocab_size;
    return Float32Array.from(rows.flatMap((row) => [...logits.subarray(row * width, (row + 1) * width)]));
  };
  const expected = (kind: string): Float32Array => tensors.get(`${kind}/logits`)?.data as Float32Array;

  for (const kind of Object.keys(configs).filter((name) => !(name in REFUSED)))
    it(`${kind}: gives here the logits that it gives there`, async () => {
      const adapter = written(kind);
      const merged = await exported(CHECKPOINT, { adapter });
      assert.ok(relativeError(seen(await checkpointLogits(runtime, merged)), expected(kind)) < 1e-5, "merged");
      const { rank, alpha, targets, rows: own, tensors: read } = readPeft(adapter);
      const lora: LoraOptions = { rank, alpha, targets, ...(own && { tokens: own.tokens }) };
      checkAdapter(read, loraSites(model.graph, lora), lora, adapter);
      const beside = await checkpointLogits(runtime, model, { lora, tensors: read });
      assert.ok(relativeError(seen(beside), expected(kind)) < 1e-5, "beside the model");
      const copy = `${adapter}-copy`;
      await exportAdapter(adapter, copy, "none");
      assert.deepEqual(readPeft(copy), readPeft(adapter));
    });

  it("are refused with the key and the next step where they are another computation", async () => {
    assert.ok(Object.keys(configs).length >= 35);
    for (const [kind, reason] of Object.entries(REFUSED))
      await assert.rejects(() => exported(CHECKPOINT, { adapter: written(kind) }), userError(reason), kind);
    for (const kind of ["pissa", "pissa_niter", "olora"])
      assert.throws(
        () => readPeft(written(kind)),
        userError(/./, { hint: /path_initial_model_for_weight_conversion/ }),
      );
  });

  it("are refused where a key means nothing here, or contradicts the tensors", async () => {
    const cases: [object, RegExp][] = [
      [{ init_lora_weights: "loftq" }, /init_lora_weights is "loftq"/],
      [{ init_lora_weights: "corda" }, /init_lora_weights is "corda"/],
      [{ init_lora_weights: "lora_ga" }, /init_lora_weights is "lora_ga"/],
      [{ layer_replication: [[0, 2]] }, /layer_replication is/],
      [{ constructor: 1 }, /constructor is 1/],
      [{ use_rslora: "true" }, /use_rslora is "true"/],
      [{ use_later_variant: true }, /use_later_variant is true/],
      [{ later_config: { a: 1 } }, /later_config is/],
      [{ fan_in_fan_out: true }, /fan_in_fan_out is true/],
      [{ rank_pattern: { "(": 2 } }, /rank_pattern is .*positive numbers/],
      [{ alpha_pattern: { q_proj: "6" } }, /alpha_pattern is/],
      // a kind is named by its name, whatever of its own keys stands before it
      [{ peft_type: "IA3", feedforward_modules: ["x"] }, /peft_type is "IA3".*expected "LORA"/],
      [{ r: 0 }, /r is 0/],
      [{ lora_alpha: "8" }, /lora_alpha is "8"/],
    ];
    for (const [changes, reason] of cases) assert.throws(() => readPeft(written("plain", changes)), reason);
    const loha = written("plain");
    const config = readJson(join(loha, ADAPTER_CONFIG)) as object;
    writeFileSync(join(loha, ADAPTER_CONFIG), JSON.stringify({ eps: 6e-5, ...config, peft_type: "LOHA" }));
    assert.throws(() => readPeft(loha), { message: /peft_type is "LOHA"/, hint: /merge_and_unload/ });
    const merged = (changes: object) => exported(CHECKPOINT, { adapter: written("plain", changes) });
    await assert.rejects(merged({ rank_pattern: { q_proj: 4 } }), /expected float32 \[4, 64\]/);
    await assert.rejects(merged({ r: 3 }), /expected float32 \[3, 64\]/);
    assert.equal(readPeft(written("plain", { later_variant: null, other: false, more: {} })).rank, 2);
  });

  it("have to be saved as safetensors", () => {
    const dir = written("plain");
    rmSync(join(dir, ADAPTER));
    assert.throws(() => readPeft(dir), /There is no adapter in/);
    writeFileSync(join(dir, "adapter_model.bin"), "");
    assert.throws(() => readPeft(dir), { name: "UserError", hint: /adapter_model\.bin is a pickle.*save_file/ });
    assert.ok((readJson(join(dir, ADAPTER_CONFIG)) as { r: number }).r === 2);
  });
});
