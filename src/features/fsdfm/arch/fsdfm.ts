import { z } from "zod";
import { attention } from "../../../attention/keys.js";
import { fail } from "../../../core/errors.js";
import type { Architecture, WeightSpec } from "../../../nn/architecture.js";
import { baseConfigSchema, MOST_LAYERS, type ModelConfig, parseConfig, size, WIDEST } from "../../../nn/config.js";
import { geluTanh, layerNorm, linear, rotate, rotations, silu, Targets, type WeightOf } from "../../../nn/layers.js";
import { Emitter } from "../../../onnx/emit.js";
import type { GraphBuilder } from "../../../onnx/graph.js";
import type { Value } from "../../../onnx/types.js";

/**
 * FS-DFM (arXiv 2509.20624): a diffusion transformer (DiT, arXiv 2212.09748) over tokens, conditioned on the flow's
 * time and, in the few-step student (`step_conditioned`), on the step size.
 *
 *   c = silu(time)                                    plain
 *   c = silu(fuse([time, step])), then silu(fuse_i(c)) in every block i and the head     step-conditioned
 *   x = x + gate * attn_out(attention(shift + (1 + scale) * norm1(x)))
 *   x = x + gate * mlp(shift + (1 + scale) * norm2(x)),   the six of them from adaLN_modulation(c)
 *   logits = linear(shift + (1 + scale) * norm_final(x))
 */
const schema = baseConfigSchema.extend({
  attention: z.literal("bidirectional", { error: "fsdfm is bidirectional" }),
  cond_dim: size(WIDEST).describe("width of the conditioning vector c"),
  num_hidden_layers: size(MOST_LAYERS),
  num_attention_heads: size(WIDEST),
  step_conditioned: z.boolean().describe("the few-step student: one more input, step [B]"),
});

type FsdfmConfig = z.infer<typeof schema>;

const NORM_EPSILON = 1e-5;
const ROPE_THETA = 10_000;
const MLP_RATIO = 4;
/** Sinusoids of the time embedding, whose input is their cosines and sines. */
const FREQUENCIES = 128;
const LONGEST_PERIOD = 10_000;

function parse(config: ModelConfig): FsdfmConfig {
  const c = parseConfig(schema, config, "config.json");
  if (c.hidden_size % (2 * c.num_attention_heads) !== 0)
    fail(
      `config.json: hidden_size (${c.hidden_size}) must be num_attention_heads (${c.num_attention_heads}) times an even head size.`,
    );
  return c;
}

function weightsOf(c: FsdfmConfig): ReadonlyMap<string, WeightSpec> {
  const [d, cond] = [c.hidden_size, c.cond_dim];
  const specs = new Map<string, WeightSpec>();
  const zero = { fill: 0 };
  const matrix = (name: string, rows: number, columns: number, init: WeightSpec["init"]): void => {
    specs.set(`${name}.weight`, { shape: [rows, columns], init });
  };
  // the variance of PyTorch's default
  const drawn = (columns: number): WeightSpec["init"] => ({ std: 1 / Math.sqrt(3 * columns) });
  const biased = (name: string, rows: number, columns: number, init = drawn(columns)): void => {
    matrix(name, rows, columns, init);
    specs.set(`${name}.bias`, { shape: [rows], init: zero });
  };
  const gain = (name: string): void => {
    specs.set(`${name}.weight`, { shape: [d], init: { fill: 1 } });
  };
  const embedding = (name: string): void => {
    biased(`${name}.mlp.0`, cond, 2 * FREQUENCIES);
    biased(`${name}.mlp.2`, cond, cond);
  };
  // adaLN-zero: every block starts as the identity, and the head at uniform probabilities
  const modulation = (name: string, parts: number): void => {
    if (c.step_conditioned) biased(`${name}.condition_fuser`, cond, 2 * cond);
    biased(`${name}.adaLN_modulation`, parts * d, cond, zero);
  };

  matrix("vocab_embed", c.vocab_size, d, drawn(d));
  embedding("time_embedding");
  if (c.step_conditioned) {
    embedding("dt_embedding");
    biased("time_condition_fuser", 2 * cond, 2 * cond);
  }
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const p = `blocks.${i}`;
    gain(`${p}.norm1`);
    for (const name of ["qw", "kw", "vw", "attn_out"]) matrix(`${p}.${name}`, d, d, drawn(d));
    gain(`${p}.norm2`);
    biased(`${p}.mlp.0`, MLP_RATIO * d, d);
    biased(`${p}.mlp.2`, d, MLP_RATIO * d);
    modulation(p, 6);
  }
  gain("output_layer.norm_final");
  biased("output_layer.linear", c.vocab_size, d, zero);
  modulation("output_layer", 2);
  return specs;
}

/** Emits the parts of the graph, which read weights by their checkpoint names. */
class Emission {
  readonly e: Emitter;

  constructor(
    private readonly g: GraphBuilder,
    private readonly config: FsdfmConfig,
    readonly w: WeightOf,
  ) {
    this.e = new Emitter(g);
  }

  /** Emits x W^T + b for x [M, in], by a module's name. */
  biased(x: Value, module: string): Value {
    return linear(this.e, x, this.w(`${module}.weight`), this.w(`${module}.bias`));
  }

  /** Linear, SiLU, Linear of [cos | sin] of s * 10000^(-i/128): s [B] -> [B, cond]. */
  embedding(s: Value, module: string): Value {
    const { e } = this;
    return this.g.scope(module, () => {
      const frequencies = Array.from({ length: FREQUENCIES }, (_, i) => LONGEST_PERIOD ** (-i / FREQUENCIES));
      const angles = e.mul(e.unsqueeze(s, [1]), e.g.constant("float32", [1, FREQUENCIES], frequencies));
      const hidden = this.biased(e.concat([e.cos(angles), e.sin(angles)], 1), `${module}.mlp.0`);
      return this.biased(silu(e, hidden), `${module}.mlp.2`);
    });
  }

  /** Emits the conditioning vector: [B, cond], or [B, 2 cond] for each part's own fuser. */
  condition(): Value {
    const { e, g } = this;
    const time = this.embedding(g.input("time", "float32", ["B"]), "time_embedding");
    if (!this.config.step_conditioned) return silu(e, time);
    const step = this.embedding(g.input("step", "float32", ["B"]), "dt_embedding");
    const fused = g.scope("time_condition_fuser", () => this.biased(e.concat([time, step], 1), "time_condition_fuser"));
    return silu(e, fused);
  }

  /** Emits `parts` vectors [B, 1, hidden] from the condition, for a block or the head. */
  modulation(condition: Value, module: string, parts: number): Value[] {
    const { e } = this;
    return this.g.scope("adaLN_modulation", () => {
      const own = this.config.step_conditioned
        ? silu(e, this.biased(condition, `${module}.condition_fuser`))
        : condition;
      const all = e.unsqueeze(this.biased(own, `${module}.adaLN_modulation`), [1]);
      return e.split(all, Array<number>(parts).fill(this.config.hidden_size), 2);
    });
  }

  /** shift + (1 + scale) * norm(x): x [B, N, hidden] -> [B * N, hidden], ready for Gemms. */
  modulated(x: Value, norm: string, shift: Value, scale: Value): Value {
    const { e } = this;
    const normalised = layerNorm(e, x, this.w(`${norm}.weight`), NORM_EPSILON);
    return e.reshape(e.add(e.mul(normalised, e.add(scale, 1)), shift), [-1, this.config.hidden_size]);
  }
}

export const architecture: Architecture = {
  names: () => ({
    loraTargets: ["qw", "kw", "vw", "attn_out", "mlp.0", "mlp.2"],
    // the rows of a modulation are gains, shifts and gates, each with its own scale
    tables: ["vocab_embed", "time_embedding", "dt_embedding", "output_layer", "adaLN_modulation"],
  }),
  weights: (config) => weightsOf(parse(config)),

  build(g, config, weight) {
    const c = parse(config);
    const specs = weightsOf(c);
    const m = new Emission(g, c, (name) => weight(name, specs.get(name)?.shape ?? []));
    const { e, w } = m;
    const d = c.hidden_size;
    const heads = c.num_attention_heads;
    const headDim = d / heads;

    const inputIds = g.input("input_ids", "int64", ["B", "N"]);
    const positionIds = g.input("position_ids", "int64", ["B", "N"]);
    const bias = g.input("attention_bias", "float32", ["B", 1, "N", "N"]);
    const t = new Targets(e, inputIds);
    const rows = (v: Value): Value => e.reshapeTo(v, t.of("B", "N", d));
    const condition = m.condition();
    const rotation = rotations(e, positionIds, headDim, ROPE_THETA);

    let x = e.gather(w("vocab_embed.weight"), inputIds);
    for (let i = 0; i < c.num_hidden_layers; i++) {
      const p = `blocks.${i}`;
      x = g.scope(p, () => {
        const [shift1, scale1, gate1, shift2, scale2, gate2] = m.modulation(condition, p, 6) as [
          Value,
          Value,
          Value,
          Value,
          Value,
          Value,
        ];
        const h = m.modulated(x, `${p}.norm1`, shift1, scale1);
        const project = (name: string): Value =>
          g.scope(name, () => e.reshapeTo(linear(e, h, w(`${p}.${name}.weight`)), t.of("B", "N", heads, headDim)));
        const q = rotate(e, project("qw"), rotation.query);
        const k = rotate(e, project("kw"), rotation.key);
        const context = attention(e, q, k, project("vw"), bias, { heads, kvHeads: heads, headDim });
        const attended = g.scope("attn_out", () => rows(linear(e, context, w(`${p}.attn_out.weight`))));
        const middle = e.add(x, e.mul(attended, gate1));
        const fed = g.scope("mlp", () => {
          const up = m.biased(m.modulated(middle, `${p}.norm2`, shift2, scale2), `${p}.mlp.0`);
          return rows(m.biased(geluTanh(e, up), `${p}.mlp.2`));
        });
        return e.add(middle, e.mul(fed, gate2));
      });
    }
    g.scope("output_layer", () => {
      const [shift, scale] = m.modulation(condition, "output_layer", 2) as [Value, Value];
      const last = m.modulated(x, "output_layer.norm_final", shift, scale);
      const logits = g.scope("linear", () => m.biased(last, "output_layer.linear"));
      g.output("logits", e.reshapeTo(logits, t.of("B", "N", c.vocab_size)));
    });
  },
};
