import { z } from "zod";
import { attentionOver, type KeysOf } from "../attention/keys.js";
import { fail } from "../core/errors.js";
import { Emitter } from "../onnx/emit.js";
import type { GraphBuilder } from "../onnx/graph.js";
import type { Value } from "../onnx/types.js";
import {
  type Architecture,
  LLAMA_NAMES,
  type WeightDeclarer,
  type WeightNames,
  type WeightSpec,
} from "./architecture.js";
import { baseConfigSchema, MOST_LAYERS, type ModelConfig, parseConfig, size, WIDEST } from "./config.js";
import { linear, rmsNorm, rotate, rotations, swiglu, Targets } from "./layers.js";
import { ropeScalingSchema } from "./rope.js";

/** Model directories may have `null` or the type "default" from their checkpoint. */
const isUnscaled = (value: unknown): boolean => {
  const { rope_type, type } = (value ?? { type: "default" }) as Readonly<Record<string, unknown>>;
  return (rope_type ?? type) === "default";
};

/** The keys of config.json that Qwen- and Llama-like transformers share, under Hugging Face's names. */
export const transformerSchema = baseConfigSchema.extend({
  num_hidden_layers: size(MOST_LAYERS),
  num_attention_heads: size(WIDEST),
  num_key_value_heads: size(WIDEST),
  head_dim: size(WIDEST).multipleOf(2),
  intermediate_size: size(8 * WIDEST),
  rms_norm_eps: z.number().positive().max(1),
  rope_theta: z.number().min(1),
  rope_scaling: z
    .preprocess((value) => (isUnscaled(value) ? undefined : value), ropeScalingSchema.optional())
    .describe("RoPE stretched for longer texts: linear, llama3 or yarn, with transformers' keys"),
  tie_word_embeddings: z.boolean(),
  qk_norm: z.boolean().default(true).describe("RMSNorm of q and k over each head, before RoPE"),
  qkv_bias: z.boolean().default(false).describe("q, k and v have biases (Qwen2, Dream)"),
  o_bias: z.boolean().default(false).describe("so has o (Llama's attention_bias)"),
  no_rope_layers: z
    .array(z.union([z.literal(0), z.literal(1)]))
    .optional()
    .describe("0 for a layer whose q and k are not rotated (SmolLM3), 1 for one with RoPE; all have it by default"),
  shifted_logits: z
    .boolean()
    .default(false)
    .describe("what stands at n is predicted from the hidden state of n - 1 (Dream); the first from its own"),
  weight_names: z.enum(["llama", "llada"]).default("llama").describe("whose names the weights have"),
});

type TransformerConfig = z.infer<typeof transformerSchema>;

const EMBED = "model.embed_tokens.weight";

/** LLaDA's weight names for Llama's, which the code below uses. */
const LLADA_NAMES: readonly (readonly [string, string])[] = [
  [EMBED, "model.transformer.wte.weight"],
  ["model.norm.", "model.transformer.ln_f."],
  ["lm_head.", "model.transformer.ff_out."],
  ["model.layers.", "model.transformer.blocks."],
  [".input_layernorm.", ".attn_norm."],
  [".post_attention_layernorm.", ".ff_norm."],
  [".self_attn.o_proj.", ".attn_out."],
  [".self_attn.", "."],
  [".mlp.gate_proj.", ".ff_proj."],
  [".mlp.down_proj.", ".ff_out."],
  [".mlp.", "."],
];

/** Returns the checkpoint's name of a weight. */
function named(c: TransformerConfig, name: string): string {
  if (c.weight_names === "llama") return name;
  return LLADA_NAMES.reduce((made, [ours, theirs]) => made.replace(ours, theirs), name);
}

function namesOf(c: TransformerConfig): WeightNames {
  if (c.weight_names === "llama") return LLAMA_NAMES;
  // the head is an ff_out, too
  const down = Array.from({ length: c.num_hidden_layers }, (_, i) => `blocks.${i}.ff_out`);
  return {
    loraTargets: ["q_proj", "k_proj", "v_proj", "attn_out", "ff_proj", "up_proj", ...down],
    tables: ["transformer.wte", "transformer.ff_out"],
  };
}

/**
 * A stack of pre-norm blocks with RoPE at the tokens' own positions:
 *
 *   x -> RMSNorm -> q,k,v -> QK-norm -> RoPE -> attention -> o -> + -> RMSNorm -> SwiGLU -> + -> ... -> RMSNorm -> head
 *
 * The input `attention_bias` decides which rows see each other; architectures made from this one differ in `schema`.
 */
export function transformer(schema: z.ZodType<TransformerConfig>): Architecture {
  const parse = (config: ModelConfig): TransformerConfig => {
    const c = parseConfig(schema, config, "config.json");
    if (c.num_attention_heads % c.num_key_value_heads !== 0)
      fail(
        `config.json: num_attention_heads (${c.num_attention_heads}) must be a multiple of num_key_value_heads (${c.num_key_value_heads}).`,
      );
    if (c.no_rope_layers !== undefined && c.no_rope_layers.length !== c.num_hidden_layers)
      fail(
        `config.json: no_rope_layers has ${c.no_rope_layers.length} entries, num_hidden_layers is ${c.num_hidden_layers}.`,
      );
    return c;
  };
  return {
    names: (config) => namesOf(parse(config)),
    weights: (config) => {
      const c = parse(config);
      return new Map([...weightsOf(c)].map(([name, spec]) => [named(c, name), spec]));
    },
    build: (g, config, weight) => emit(g, parse(config), weight, "sequence"),
    buildWithKeys: (of, g, config, weight) => emit(g, parse(config), weight, of),
  };
}

function emit(g: GraphBuilder, c: TransformerConfig, weight: WeightDeclarer, keysOf: KeysOf): void {
  const e = new Emitter(g);
  const d = c.hidden_size;
  const hd = c.head_dim;
  const [heads, kvHeads] = [c.num_attention_heads, c.num_key_value_heads];
  const specs = weightsOf(c);
  const w = (name: string): Value => weight(named(c, name), specs.get(name)?.shape ?? []);

  const inputIds = g.input("input_ids", "int64", ["B", "N"]);
  const positionIds = g.input("position_ids", "int64", ["B", "N"]);
  const shapes = { heads, kvHeads, headDim: hd };
  const attend = attentionOver(keysOf, e);

  g.scope("model", () => {
    const t = new Targets(e, inputIds);
    const rotation = rotations(e, positionIds, hd, c.rope_theta, c.rope_scaling);
    let x = e.reshape(e.gather(w(EMBED), inputIds), [-1, d]);
    for (let i = 0; i < c.num_hidden_layers; i++) {
      const p = `model.layers.${i}`;
      x = g.scope(`layers.${i}`, () => {
        const attended = g.scope("self_attn", () => {
          const h = rmsNorm(e, x, w(`${p}.input_layernorm.weight`), c.rms_norm_eps);
          const biased = (x: Value, name: string, bias: boolean): Value =>
            linear(e, x, w(`${p}.self_attn.${name}.weight`), bias ? w(`${p}.self_attn.${name}.bias`) : undefined);
          const project = (name: string, n: number): Value =>
            g.scope(name, () => e.reshapeTo(biased(h, name, c.qkv_bias), t.of("B", "N", n, hd)));
          const norm = (name: string, v: Value): Value =>
            c.qk_norm ? g.scope(name, () => rmsNorm(e, v, w(`${p}.self_attn.${name}.weight`), c.rms_norm_eps)) : v;
          const [ownQueries, unturned] = [
            norm("q_norm", project("q_proj", heads)),
            norm("k_norm", project("k_proj", kvHeads)),
          ];
          const rope = c.no_rope_layers?.[i] !== 0;
          const turned = rope ? rotate(e, ownQueries, rotation.query) : e.mul(ownQueries, hd ** -0.5);
          const k = rope ? rotate(e, unturned, rotation.key) : unturned;
          const context = attend(String(i), turned, k, project("v_proj", kvHeads), shapes);
          return g.scope("o_proj", () => biased(context, "o_proj", c.o_bias));
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
    const final = g.scope("norm", () => rmsNorm(e, x, w("model.norm.weight"), c.rms_norm_eps));
    const last = c.shifted_logits ? shifted(e, final, t, d) : final;
    const logits = g.scope("lm_head", () => linear(e, last, w(c.tie_word_embeddings ? EMBED : "lm_head.weight")));
    g.output("logits", e.reshapeTo(logits, t.of("B", "N", c.vocab_size)));
  });
}

/** Shifts the rows of each sequence by one, repeating the first: x [B*N, D]. */
function shifted(e: Emitter, x: Value, t: Targets, d: number): Value {
  const ones = e.g.op("Expand", [e.g.ints([1]), t.of("N")]);
  const before = e.max(e.sub(e.g.op("CumSum", [ones, e.g.scalar(0, "int64")]), 2), 0);
  return e.reshape(e.gather(e.reshapeTo(x, t.of("B", "N", d)), before, 1), [-1, d]);
}

function weightsOf(c: TransformerConfig): ReadonlyMap<string, WeightSpec> {
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
    const bias = (name: string, n: number): void => {
      specs.set(`${p}.self_attn.${name}.bias`, { shape: [n], init: { fill: 0 } });
    };
    if (c.qkv_bias)
      for (const [name, n] of [
        ["q_proj", q],
        ["k_proj", kv],
        ["v_proj", kv],
      ] as const)
        bias(name, n);
    if (c.o_bias) bias("o_proj", d);
    if (c.qk_norm) {
      gain("self_attn.q_norm", c.head_dim);
      gain("self_attn.k_norm", c.head_dim);
    }
    gain("post_attention_layernorm", d);
    matrix("mlp.gate_proj", c.intermediate_size, d, std);
    matrix("mlp.up_proj", c.intermediate_size, d, std);
    matrix("mlp.down_proj", d, c.intermediate_size, residual);
  }
  specs.set("model.norm.weight", { shape: [d], init: { fill: 1 } });
  if (!c.tie_word_embeddings) specs.set("lm_head.weight", { shape: [c.vocab_size, d], init: { std } });
  return specs;
}
