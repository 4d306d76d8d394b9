import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UserError } from "../../src/core/errors.js";
import { Rng } from "../../src/core/rng.js";
import { checkAdapter, freshAdapter, isTarget, type LoraOptions, type LoraSite, loraName } from "../../src/nn/lora.js";
import type { Tensor } from "../../src/onnx/types.js";

const options: LoraOptions = { rank: 2, alpha: 4, targets: ["q_proj"] };
const sites: LoraSite[] = [
  { module: "model.layers.0.self_attn.q_proj", inFeatures: 8, outFeatures: 6 },
  { module: "model.layers.1.self_attn.q_proj", inFeatures: 8, outFeatures: 6 },
];
const fresh = (seed = 0): Map<string, Tensor> => freshAdapter(sites, options, Rng.named(seed, "adapter"));
const messageFor = (adapter: ReadonlyMap<string, Tensor>, given: readonly LoraSite[] = sites): string => {
  try {
    checkAdapter(adapter, given, options, "runs/a/adapter");
    return "";
  } catch (error) {
    assert.ok(error instanceof UserError);
    assert.ok(error.hint !== undefined);
    return error.message;
  }
};

describe("LoRA adapters", () => {
  it("are named as PEFT names them", () => {
    const name = loraName("model.layers.0.self_attn.q_proj", "A");
    assert.equal(name, "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight");
  });

  it("go by the end of a module's name, as in PEFT", () => {
    assert.ok(isTarget("model.layers.0.self_attn.q_proj", options));
    const second = { ...options, targets: ["mlp.0"] };
    assert.ok(isTarget("blocks.1.mlp.0", second));
    assert.ok(!isTarget("blocks.0.mlp.2", second));
    assert.ok(!isTarget("blocks.0.xmlp.0", second));
    assert.ok(isTarget("q_proj", options));
    assert.ok(!isTarget("model.q_proj.inner", options));
    assert.ok(!isTarget("model.layers.0.self_attn.xq_proj", options));
  });

  it("begin as PEFT's: A uniform within 1/sqrt(in), B zero", () => {
    const adapter = fresh();
    const expected = sites.flatMap((s) => [loraName(s.module, "A"), loraName(s.module, "B")]);
    assert.deepEqual([...adapter.keys()], expected);
    for (const [name, { shape, data }] of adapter) {
      const values = [...(data as Float32Array)];
      if (name.includes("lora_B")) {
        assert.deepEqual(shape, [6, 2]);
        assert.ok(values.every((x) => x === 0));
      } else {
        assert.deepEqual(shape, [2, 8]);
        assert.ok(values.every((x) => Math.abs(x) <= 1 / Math.sqrt(8)));
        assert.ok(values.some((x) => x > 0.1) && values.some((x) => x < -0.1));
      }
    }
  });

  it("are the same for the same seed, and differ for another", () => {
    assert.deepEqual(fresh(), fresh());
    assert.notDeepEqual(fresh(), fresh(1));
  });

  it("fit the sites that they were made for", () => assert.equal(messageFor(fresh()), ""));

  it("are refused with every fault named", () => {
    const adapter = fresh();
    const [a0, b0, a1] = [...adapter.keys()] as [string, string, string];
    adapter.delete(a0);
    adapter.set(b0, { dtype: "float32", shape: [6, 4], data: new Float32Array(24) });
    adapter.set(a1, { dtype: "float16", shape: [2, 8], data: new Uint16Array(16) });
    adapter.set("other", { dtype: "float32", shape: [1], data: new Float32Array(1) });
    const message = messageFor(adapter);
    assert.match(message, /^The adapter runs\/a\/adapter does not fit the model:/);
    for (const fault of [
      `missing ${a0}`,
      `${b0}: expected [6, 2], got [6, 4]`,
      `${a1}: expected float32, got float16`,
      "unexpected other",
    ])
      assert.ok(message.includes(fault), fault);
  });

  it("are refused with a short list where much is wrong", () => {
    const many = Array.from({ length: 10 }, (_, i) => ({ ...(sites[0] as LoraSite), module: `layers.${i}.q_proj` }));
    const message = messageFor(new Map(), many);
    assert.equal(message.split("\n").length, 10);
    assert.match(message, /and 12 more$/);
  });
});
