import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { architecture as maskedLm } from "../../src/nn/arch/masked_lm.js";
import { architecture as refusion } from "../../src/nn/arch/refusion.js";
import { MICRO } from "../support/micro-model.js";

describe("transformer architectures", () => {
  const bidirectional = { ...MICRO, architecture: "masked_lm", attention: "bidirectional" } as const;

  it("say which attention they need, and who has the other", () => {
    const other = /refusion is causal over its buffer; the bidirectional model is architecture: masked_lm/;
    assert.throws(() => refusion.weights({ ...MICRO, attention: "bidirectional" }), other);
    const causal = /masked_lm is bidirectional; the causal model is architecture: refusion/;
    assert.throws(() => maskedLm.weights({ ...bidirectional, attention: "causal" }), causal);
  });

  it("have QK-norm and no biases by default", () => {
    const has = (changes: object, name: string): boolean =>
      refusion.weights({ ...MICRO, ...changes }).has(`model.layers.1.self_attn.${name}`);
    assert.ok(maskedLm.weights(bidirectional).has("model.layers.1.self_attn.k_norm.weight"));
    assert.ok(has({}, "k_norm.weight"));
    assert.ok(!has({ qk_norm: false }, "k_norm.weight"));
    assert.ok(!has({}, "q_proj.bias") && !has({ qkv_bias: true }, "o_proj.bias"));
    assert.ok(has({ qkv_bias: true }, "v_proj.bias") && has({ o_bias: true }, "o_proj.bias"));
  });

  it("refuse what they cannot compute", () => {
    assert.throws(() => refusion.weights({ ...MICRO, no_rope_layers: [1] }), /no_rope_layers has 1 entries/);
    assert.throws(() => refusion.weights({ ...MICRO, shifted_logits: true }), /is not its neighbour in the text/);
  });

  it("need whole groups of heads", () => {
    const config = { ...bidirectional, num_attention_heads: 3, num_key_value_heads: 2 };
    const whole = /num_attention_heads \(3\) must be a multiple of num_key_value_heads \(2\)/;
    assert.throws(() => maskedLm.weights(config), whole);
  });
});
