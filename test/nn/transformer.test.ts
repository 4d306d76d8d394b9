import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { architecture as maskedLm } from "../../src/nn/arch/masked_lm.js";
import { architecture as refusion } from "../../src/nn/arch/refusion.js";
import { MICRO } from "../support/micro-model.js";

describe("transformer architectures", () => {
  const bidirectional = { ...MICRO, architecture: "masked_lm", attention: "bidirectional" } as const;

  it("say which attention they need, and who has the other", () => {
    assert.throws(
      () => refusion.weights({ ...MICRO, attention: "bidirectional" }),
      /refusion is causal over its buffer; the bidirectional model is architecture: masked_lm/,
    );
    assert.throws(
      () => maskedLm.weights({ ...bidirectional, attention: "causal" }),
      /masked_lm is bidirectional; the causal model is architecture: refusion/,
    );
  });

  it("have QK-norm by default; only masked_lm may do without", () => {
    const name = "model.layers.1.self_attn.k_norm.weight";
    assert.ok(refusion.weights(MICRO).has(name));
    assert.ok(maskedLm.weights(bidirectional).has(name));
    assert.ok(!maskedLm.weights({ ...bidirectional, qk_norm: false }).has(name));
    assert.throws(() => refusion.weights({ ...MICRO, qk_norm: false }), /refusion always normalises q and k/);
  });

  it("need whole groups of heads", () => {
    assert.throws(
      () => maskedLm.weights({ ...bidirectional, num_attention_heads: 3, num_key_value_heads: 2 }),
      /num_attention_heads \(3\) must be a multiple of num_key_value_heads \(2\)/,
    );
  });
});
