import { z } from "zod";
import type { Architecture, WeightSpec } from "../../../nn/architecture.js";
import { baseConfigSchema, MOST_LAYERS, type ModelConfig, parseConfig } from "../../../nn/config.js";
import { layerNorm, linear, silu } from "../../../nn/layers.js";
import { Emitter } from "../../../onnx/emit.js";
import type { Value } from "../../../onnx/types.js";

const size = baseConfigSchema.shape.hidden_size;

/**
 * The velocity field v(a_t, t | s) of a flow-matching policy (Lipman et al., arXiv 2210.02747) over chunks of actions:
 * a residual MLP of the chunk, the time and the state, concatenated.
 *
 *   inputs   actions [B, chunk * action_size], time [B] in 0 (noise) to 1 (data), state [B, state_size]
 *   h        = in_proj([actions | state | sin, cos(2^i pi t)])
 *   h        = h + down_proj(silu(up_proj(norm(h))))        num_hidden_layers times
 *   velocity = out_proj(norm(h))                            [B, chunk * action_size]
 *
 * With `depth` it also reads an image, depth [B, depth, depth] in 0..1, scaled to 10 (depth - .5) and cut into patches
 * as in ViT (Dosovitskiy et al., arXiv 2010.11929), each with a learned bias of its position:
 *
 *   h        = in_proj(...) + vision.out_proj([silu(vision.patch_proj(patch) + vision.position)] of all patches)
 */
const schema = baseConfigSchema.extend({
  reads_tokens: z.literal(false, { error: "velocity reads states, not tokens" }),
  num_hidden_layers: z.int().positive().max(MOST_LAYERS),
  state_size: size.describe("numbers of a state"),
  action_size: size.describe("numbers of an action"),
  chunk: size.describe("actions drawn together"),
  depth: z
    .int()
    .min(0)
    .max(4096)
    .multipleOf(4)
    .default(0)
    .describe("pixels of a side of the depth image; 0: it reads none"),
});

const NORM_EPSILON = 1e-5;
const FREQUENCIES = 6;
/** Side of a patch in pixels, and features per patch. */
const PATCH = 4;
const PATCH_FEATURES = 32;
/** Offset and factor of the image's values: distances are fractions of a metre, and objects differ by centimetres. */
const MIDDLE = 0.5;
const CONTRAST = 10;

type VelocityConfig = z.infer<typeof schema>;

function weightsOf(c: VelocityConfig): ReadonlyMap<string, WeightSpec> {
  const d = c.hidden_size;
  const actions = c.chunk * c.action_size;
  const specs = new Map<string, WeightSpec>();
  const biased = (name: string, rows: number, columns: number, std = (3 * columns) ** -0.5): void => {
    specs.set(`${name}.weight`, { shape: [rows, columns], init: { std } });
    specs.set(`${name}.bias`, { shape: [rows], init: { fill: 0 } });
  };
  biased("in_proj", d, actions + c.state_size + 2 * FREQUENCIES);
  if (c.depth > 0) {
    const patches = (c.depth / PATCH) ** 2;
    biased("vision.patch_proj", PATCH_FEATURES, PATCH ** 2);
    specs.set("vision.position", { shape: [patches, PATCH_FEATURES], init: { std: 0.5 } });
    biased("vision.out_proj", d, patches * PATCH_FEATURES);
  }
  for (let i = 0; i < c.num_hidden_layers; i++) {
    specs.set(`blocks.${i}.norm.weight`, { shape: [d], init: { fill: 1 } });
    biased(`blocks.${i}.up_proj`, 2 * d, d);
    biased(`blocks.${i}.down_proj`, d, 2 * d);
  }
  specs.set("norm.weight", { shape: [d], init: { fill: 1 } });
  biased("out_proj", actions, d);
  return specs;
}

const parse = (config: ModelConfig): VelocityConfig => parseConfig(schema, config, "config.json");

export const architecture: Architecture = {
  readsTokens: false,
  names: (config) => {
    const vision = parse(config).depth > 0 ? ["patch_proj"] : [];
    return { loraTargets: ["in_proj", ...vision, "up_proj", "down_proj", "out_proj"], tables: [] };
  },
  weights: (config) => weightsOf(parse(config)),

  build(g, config, weight) {
    const c = parse(config);
    const specs = weightsOf(c);
    const w = (name: string): Value => weight(name, specs.get(name)?.shape ?? []);
    const e = new Emitter(g);
    const biased = (x: Value, module: string): Value =>
      g.scope(module, () => linear(e, x, w(`${module}.weight`), w(`${module}.bias`)));

    const actions = g.input("actions", "float32", ["B", c.chunk * c.action_size]);
    const time = g.input("time", "float32", ["B"]);
    const state = g.input("state", "float32", ["B", c.state_size]);
    const frequencies = Array.from({ length: FREQUENCIES }, (_, i) => Math.PI * 2 ** i);
    const angles = e.mul(e.unsqueeze(time, [1]), g.constant("float32", [1, FREQUENCIES], frequencies));
    let h = biased(e.concat([actions, state, e.sin(angles), e.cos(angles)], 1), "in_proj");
    if (c.depth > 0) {
      const side = c.depth / PATCH;
      const depth = g.input("depth", "float32", ["B", c.depth, c.depth]);
      const image = e.reshape(e.mul(e.sub(depth, MIDDLE), CONTRAST), [0, side, PATCH, side, PATCH]);
      const patches = e.reshape(e.transpose(image, [0, 1, 3, 2, 4]), [-1, PATCH ** 2]);
      const features = e.reshape(biased(patches, "vision.patch_proj"), [-1, side ** 2, PATCH_FEATURES]);
      const placed = silu(e, e.add(features, w("vision.position")));
      h = e.add(h, biased(e.reshape(placed, [-1, side ** 2 * PATCH_FEATURES]), "vision.out_proj"));
    }
    for (let i = 0; i < c.num_hidden_layers; i++) {
      const block = `blocks.${i}`;
      const up = biased(layerNorm(e, h, w(`${block}.norm.weight`), NORM_EPSILON), `${block}.up_proj`);
      h = e.add(h, biased(silu(e, up), `${block}.down_proj`));
    }
    g.output("velocity", biased(layerNorm(e, h, w("norm.weight"), NORM_EPSILON), "out_proj"));
  },
};
