import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { packageRoot } from "../../../src/core/files.js";
import { readCheckpointConfig } from "../../../src/features/export/hf-config.js";
import type { ModelConfig } from "../../../src/nn/config.js";
import { Tokenizer } from "../../../src/text/tokenizer.js";
import { userError } from "../../support/user-error.js";

const SHIPPED = join(packageRoot(), "models", "tiny-masked-lm", "tokenizer.json");
const tokenizer = Tokenizer.fromJson(JSON.parse(readFileSync(SHIPPED, "utf8")), "tokenizer.json");
const SIZES = {
  ...{ vocab_size: 1024, hidden_size: 32, intermediate_size: 48, num_hidden_layers: 4, num_attention_heads: 4 },
  ...{ mask_token_id: 1023, eos_token_id: 1022, pad_token_id: 1021 },
};
const read = (model_type: string, more: object = {}): ModelConfig & Readonly<Record<string, unknown>> =>
  readCheckpointConfig(
    {
      ...{ where: "config.json", config: { model_type, ...SIZES, ...more }, generationConfig: {} },
      ...{ tokenizerConfig: {}, tokenizer: "", weights: new Map() },
    },
    tokenizer,
  );
/** A refusal that shows the way that exists. */
const shown = (message = /./) => userError(message, { hint: /Bring the model as a graph.*docs\/model\.md/ });

describe("config.json of a checkpoint", () => {
  it("refuses every key that is not known, by name, and shows the way that exists", () => {
    const families = fc.constantFrom("qwen3", "qwen2", "llama", "mistral", "smollm3", "a2d-llama", "sdar", "Dream");
    const names = fc.oneof(
      fc.constantFrom("attn_logit_softcapping", "logits_scaling", "embedding_multiplier", "query_pre_attn_scalar"),
      fc.constantFrom("clip_qkv", "use_qk_norm", "rotary_pct", "attention_chunk_size", "num_local_experts"),
      fc.constantFrom("parallel_attn", "num_nextn_predict_layers", "longest", "attention_block"),
      fc.stringMatching(/^[a-z]{3,9}_[a-z]{3,9}_[a-z]{3,9}$/),
    );
    const known = /dropout|^init|_version$|_token_id$|^(unsloth|fuse|output|no_rope|max_window|num_|use_cache)/;
    const values = fc.oneof(fc.boolean(), fc.integer(), fc.string(), fc.constant([]), fc.constant({}));
    fc.assert(
      fc.property(families, names, values, (family, name, value) => {
        fc.pre(!known.test(name) || name === "num_local_experts" || name === "num_nextn_predict_layers");
        assert.throws(() => read(family, { [name]: value }), shown(new RegExp(`the key ${name} \\(`)));
      }),
      { seed: 3, numRuns: 2000 },
    );
  });

  it("gives a missing key the default of the family's own class (transformers 5.24)", () => {
    for (const [family, ...expected] of [
      ["qwen3", 1e4, false, 32, 128, undefined],
      ["qwen2", 1e4, false, 32, 8, undefined],
      ["llama", 1e4, false, 4, 8, undefined],
      ["mistral", 1e4, false, 8, 8, 4096],
      ["smollm3", 2e6, true, 4, 8, undefined],
      ["a2d-qwen3", 1e4, false, 32, 128, undefined],
    ] as const) {
      const { rope_theta, tie_word_embeddings, num_key_value_heads, head_dim, longest, rms_norm_eps } = read(family);
      const found = [rope_theta, tie_word_embeddings, num_key_value_heads, head_dim, longest];
      assert.deepEqual([...found, rms_norm_eps], [...expected, 1e-6], family);
    }
    assert.deepEqual(read("smollm3").no_rope_layers, [1, 1, 1, 0]);
    // given keys win
    assert.equal(read("smollm3", { rope_parameters: { rope_theta: 5000, rope_type: "default" } }).rope_theta, 5000);
    assert.equal(read("mistral", { sliding_window: null }).longest, undefined);
  });

  it("reads is_causal as transformers 5.2 and later do", () => {
    for (const family of ["qwen3", "qwen2", "llama", "mistral", "smollm3"]) {
      assert.equal(read(family, { is_causal: true }).attention, "causal");
      const { architecture, attention } = read(family, { is_causal: false });
      assert.deepEqual([architecture, attention], ["masked_lm", "bidirectional"], family);
    }
    assert.throws(() => read("sdar", { is_causal: true }), userError(/is_causal is true.*expected false/));
  });

  it("names the way that exists for other computations, families and tokens", () => {
    for (const [family, more] of [
      ["llama", { mlp_bias: true }],
      ["llama", { hidden_act: "gelu" }],
      ["qwen3", { rope_parameters: { rope_type: "longrope", short_factor: [1], long_factor: [1] } }],
      ["qwen3", { partial_rotary_factor: 0.5 }],
      ["gemma3_text", {}],
      ["mixtral", {}],
    ] as const)
      assert.throws(() => read(family, more), shown(), family);
  });
});
