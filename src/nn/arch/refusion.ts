import { z } from "zod";
import { Emitter } from "../../onnx/emit.js";
import type { Value } from "../../onnx/types.js";
import type { Architecture, WeightSpec } from "../architecture.js";
import { baseConfigSchema, type ModelConfig, parseConfig } from "../config.js";
import { attention, linear, rmsNorm, rotate, rotation, swiglu, Targets } from "../layers.js";

/**
 * ReFusion (arXiv 2512.13586): Qwen3 blocks, causal over the buffer, RoPE at the tokens' own positions.
 *
 *   x -> RMSNorm -> q, k, v -> QK-norm -> RoPE -> attention -> o -> + -> RMSNorm -> SwiGLU -> + -> ... -> RMSNorm -> head
 */
const schema = baseConfigSchema.extend({
  num_hidden_layers: z.int().positive(),
  num_attention_heads: z.int().positive(),
  num_key_value_heads: z.int().positive(),
  head_dim: z.int().positive().multipleOf(2),
  intermediate_size: z.int().positive(),
  rms_norm_eps: z.number().positive(),
  rope_theta: z.number().positive(),
  tie_word_embeddings: z.boolean(),
});

type ReFusionConfig = z.infer<typeof schema>;

function parse(config: ModelConfig): ReFusionConfig {
  const c = parseConfig(schema, config, "config.json");
  return c;
}

const EMBED = "model.embed_tokens.weight";

export const architecture: Architecture = {
  weights(config) {
    const c = parse(config);
    const d = c.hidden_size;
    const q = c.num_attention_heads * c.head_dim;
    const kv = c.num_key_value_heads * c.head_dim;
    // residual branches start smaller (GPT-2): their sum keeps its scale over depth
    const std = 0.02;
    const residual = std / Math.sqrt(2 * c.num_hidden_layers);
    const specs = new Map<string, WeightSpec>([[EMBED, { shape: [c.vocab_size, d], init: { std } }]]);
    for (let i = 0; i < c.num_hidden_layers; i++) {
      const p = `model.layers.${i}`;
      const matrix = (name: string, rows: number, columns: number, s: number): void => {
        specs.set(`${p}.${name}.weight`, { shape: [rows, columns], init: { std: s } });
      };
      const gain = (name: string, n: number): void => {
        specs.set(`${p}.${name}.weight`, { shape: [n], init: { fill: 1 } });
      };
      gain("input_layernorm", d);
      matrix("self_attn.q_proj", q, d, std);
      matrix("self_attn.k_proj", kv, d, std);
      matrix("self_attn.v_proj", kv, d, std);
      matrix("self_attn.o_proj", d, q, residual);
      gain("self_attn.q_norm", c.head_dim);
      gain("self_attn.k_norm", c.head_dim);
      gain("post_attention_layernorm", d);
      matrix("mlp.gate_proj", c.intermediate_size, d, std);
      matrix("mlp.up_proj", c.intermediate_size, d, std);
      matrix("mlp.down_proj", d, c.intermediate_size, residual);
    }
    specs.set("model.norm.weight", { shape: [d], init: { fill: 1 } });
    if (!c.tie_word_embeddings) specs.set("lm_head.weight", { shape: [c.vocab_size, d], init: { std } });
    return specs;
  },

  build(g, config, weight) {
    const c = parse(config);
    const e = new Emitter(g);
    const d = c.hidden_size;
    const hd = c.head_dim;
    const [heads, kvHeads] = [c.num_attention_heads, c.num_key_value_heads];
    const specs = architecture.weights(config);
    const w = (name: string): Value => weight(name, specs.get(name)?.shape ?? []);

    const inputIds = g.input("input_ids", "int64", ["B", "N"]);
    const positionIds = g.input("position_ids", "int64", ["B", "N"]);
    const bias = g.input("attention_bias", "float32", ["B", 1, "N", "N"]);

    g.scope("model", () => {
      const t = new Targets(e, inputIds);
      const keyRotation = rotation(e, positionIds, hd, c.rope_theta);
      const queryRotation = { cos: e.mul(keyRotation.cos, hd ** -0.5), sin: e.mul(keyRotation.sin, hd ** -0.5) };
      let x = e.reshape(e.gather(w(EMBED), inputIds), [-1, d]);
      for (let i = 0; i < c.num_hidden_layers; i++) {
        const p = `model.layers.${i}`;
        x = g.scope(`layers.${i}`, () => {
          const attended = g.scope("self_attn", () => {
            const h = rmsNorm(e, x, w(`${p}.input_layernorm.weight`), c.rms_norm_eps);
            const project = (name: string, n: number): Value =>
              g.scope(name, () => e.reshapeTo(linear(e, h, w(`${p}.self_attn.${name}.weight`)), t.of("B", "N", n, hd)));
            const norm = (name: string, v: Value): Value =>
              g.scope(name, () => rmsNorm(e, v, w(`${p}.self_attn.${name}.weight`), c.rms_norm_eps));
            const q = rotate(e, norm("q_norm", project("q_proj", heads)), queryRotation);
            const k = rotate(e, norm("k_norm", project("k_proj", kvHeads)), keyRotation);
            const v = project("v_proj", kvHeads);
            const context = attention(e, t, q, k, v, bias, { heads, kvHeads, headDim: hd });
            return g.scope("o_proj", () => linear(e, context, w(`${p}.self_attn.o_proj.weight`)));
          });
          const middle = e.add(x, attended);
          const fed = g.scope("mlp", () => {
            const h = rmsNorm(e, middle, w(`${p}.post_attention_layernorm.weight`), c.rms_norm_eps);
            return swiglu(
              e,
              h,
              w(`${p}.mlp.gate_proj.weight`),
              w(`${p}.mlp.up_proj.weight`),
              w(`${p}.mlp.down_proj.weight`),
            );
          });
          return e.add(middle, fed);
        });
      }
      const last = g.scope("norm", () => rmsNorm(e, x, w("model.norm.weight"), c.rms_norm_eps));
      const logits = g.scope("lm_head", () => linear(e, last, w(c.tie_word_embeddings ? EMBED : "lm_head.weight")));
      g.output("logits", e.reshapeTo(logits, t.of("B", "N", c.vocab_size)));
    });
  },
};
