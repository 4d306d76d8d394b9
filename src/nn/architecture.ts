import { fail, nearest } from "../core/errors.js";
import { loadFolder } from "../core/registry.js";
import type { Rng } from "../core/rng.js";
import type { GraphBuilder } from "../onnx/graph.js";
import { sizeOf } from "../onnx/shapes.js";
import type { Value } from "../onnx/types.js";
import type { ModelConfig } from "./config.js";

/** The way a fresh weight is drawn: a normal of this standard deviation, or a constant. */
export type Initialisation = { readonly std: number } | { readonly fill: number };

export interface WeightSpec {
  readonly shape: readonly number[];
  readonly init: Initialisation;
}

/** Whose keys and values a graph's tokens see besides their own sequence's. */
export type KeysOf = "past" | "shared";

/** One file under arch/ exports one of these as `architecture`; its file name is the `architecture` of config.json. */
export interface Architecture {
  /** False: a network of vectors, with inputs and outputs of its own and neither tokenizer nor vocabulary. */
  readonly readsTokens?: false;
  /** Emits the whole contract graph (docs/model.md): inputs, weights by their checkpoint names, output `logits`. */
  build(g: GraphBuilder, config: ModelConfig, weights: WeightDeclarer): void;
  /**
   * The same graph whose tokens see keys and values of others (past.ts): of an earlier forward, or of other sequences of
   * the same one; absent where the architecture cannot.
   */
  readonly buildWithKeys?: Readonly<Record<KeysOf, Architecture["build"]>>;
  /** Every weight under its checkpoint name, in checkpoint order. */
  weights(config: ModelConfig): ReadonlyMap<string, WeightSpec>;
}

/** Declares a weight of the graph by its checkpoint name. */
export type WeightDeclarer = (name: string, shape: readonly number[]) => Value;

let architectures: Promise<Map<string, Architecture>> | undefined;

/** The architecture named in config.json. */
export async function architectureOf(config: ModelConfig): Promise<Architecture> {
  architectures ??= loadFolder<Architecture>(new URL("./arch/", import.meta.url), "architecture");
  const known = await architectures;
  const found = known.get(config.architecture);
  if (found === undefined) {
    const close = nearest(config.architecture, [...known.keys()]);
    fail(`Unknown architecture "${config.architecture}"; known: ${[...known.keys()].join(", ")}.`, {
      hint:
        close === undefined
          ? "An imported graph has none of these: it is trained and evaluated as it is, and `export --model DIR --merge RUN` merges its adapter."
          : `Did you mean "${close}"?`,
    });
  }
  return found;
}

/** Draws fresh weights. */
export function initialise(
  specs: ReadonlyMap<string, WeightSpec>,
  rng: Rng,
): Map<string, { shape: readonly number[]; data: Float32Array }> {
  const out = new Map<string, { shape: readonly number[]; data: Float32Array }>();
  for (const [name, { shape, init }] of specs) {
    const data = new Float32Array(sizeOf(shape));
    for (let i = 0; i < data.length; i++) data[i] = "fill" in init ? init.fill : rng.normal() * init.std;
    out.set(name, { shape, data });
  }
  return out;
}
