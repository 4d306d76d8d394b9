import type { KeysOf } from "../attention/keys.js";
import { fail, nearest } from "../core/errors.js";
import { loadFolder } from "../core/registry.js";
import type { Rng } from "../core/rng.js";
import type { GraphBuilder } from "../onnx/graph.js";
import { sizeOf } from "../onnx/shapes.js";
import type { Value } from "../onnx/types.js";
import type { ModelConfig } from "./config.js";

/** Distribution of a fresh weight: a normal of this standard deviation, or a constant. */
export type Initialisation = { readonly std: number } | { readonly fill: number };

export interface WeightSpec {
  readonly shape: readonly number[];
  readonly init: Initialisation;
}

/** Facts that an optimizer and an adapter need of the weights of a network, by their names. */
export interface WeightNames {
  /** Ends of the names of the projections that get an adapter where `lora.targets` names none. */
  readonly loraTargets: readonly string[];
  /** Parts of the names of matrices that are not hidden layers: embeddings, the head, and gains by a condition. */
  readonly tables: readonly string[];
}

/** Llama's names, which other programs' graphs of Hugging Face's models have as well. */
export const LLAMA_NAMES: WeightNames = {
  loraTargets: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
  tables: ["embed", "lm_head"],
};

/** A network architecture. Each file under arch/ exports one as `architecture`; config.json has its file name. */
export interface Architecture {
  /** False: a network of vectors, with its own inputs and outputs and neither tokenizer nor vocabulary. */
  readonly readsTokens?: false;
  /** Emits the whole contract graph (docs/model.md): inputs, weights by their checkpoint names, output `logits`. */
  build(g: GraphBuilder, config: ModelConfig, weights: WeightDeclarer): void;
  /**
   * Emits the graph whose tokens also see keys and values of an earlier forward, or of other sequences of the same one;
   * absent where the architecture cannot.
   */
  buildWithKeys?(of: KeysOf, ...args: Parameters<Architecture["build"]>): void;
  names(config: ModelConfig): WeightNames;
  /** Returns every weight under its checkpoint name, in checkpoint order. */
  weights(config: ModelConfig): ReadonlyMap<string, WeightSpec>;
}

/** Declares a weight of the graph by its checkpoint name. */
export type WeightDeclarer = (name: string, shape: readonly number[]) => Value;

let architectures: Promise<Map<string, Architecture>> | undefined;

/** Loads the architecture named in config.json. */
export async function architectureOf(config: ModelConfig): Promise<Architecture> {
  architectures ??= loadFolder<Architecture>(new URL("./arch/", import.meta.url), "architecture");
  const kinds = await architectures;
  const found = kinds.get(config.architecture);
  if (found === undefined) {
    const close = nearest(config.architecture, [...kinds.keys()]);
    fail(`Unknown architecture "${config.architecture}"; known: ${[...kinds.keys()].join(", ")}.`, {
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
