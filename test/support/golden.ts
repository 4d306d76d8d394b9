import { join } from "node:path";
import { packageRoot } from "../../src/core/files.js";
import type { Batch } from "../../src/diffusion/layout/batch.js";
import { policyHead } from "../../src/diffusion/score-head.js";
import { baseConfigSchema } from "../../src/nn/config.js";
import type { LoraOptions } from "../../src/nn/lora.js";
import { loadModel, type Model, saveModel } from "../../src/nn/model.js";
import { scalar, vector } from "../../src/onnx/tensors.js";
import type { Tensor } from "../../src/onnx/types.js";
import type { OptimizerOptions } from "../../src/optim/update-rule.js";
import { openSafetensors, readSafetensors } from "../../src/weights/safetensors.js";
import { letters } from "./micro-model.js";
import { temporaryFolder } from "./temporary.js";

/** The optimizer of the goldens, without clipping or weight decay. */
export const GOLDEN_OPTIMIZER: OptimizerOptions = {
  ...{ kind: "adamw", beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, gradClip: 0, muonLrScale: 1 },
};

/** A PyTorch reference written by scripts/golden/make_golden.py. */
export interface Golden {
  readonly tensors: ReadonlyMap<string, Tensor>;
  readonly meta: {
    readonly alpha: number;
    readonly rank: number;
    readonly beta: number;
    readonly clip_range: number;
    readonly temperature: number;
    readonly config: Record<string, unknown>;
  };
  floats(name: string): Float32Array;
  ints(name: string): BigInt64Array;
}

export function readGolden(name: string): Golden {
  const path = join(packageRoot(), "test", "golden", `${name}.safetensors`);
  const tensors = readSafetensors(path);
  const meta = JSON.parse(openSafetensors(path).metadata.golden ?? "{}") as Golden["meta"];
  const data = (key: string): Tensor["data"] => {
    const tensor = tensors.get(key);
    if (tensor === undefined) throw new Error(`${path} lacks ${key}`);
    return tensor.data;
  };
  return { tensors, meta, floats: (key) => data(key) as Float32Array, ints: (key) => data(key) as BigInt64Array };
}

/** Selects the tensors with a prefix and removes the prefix from their names. */
export function under(golden: Golden, prefix: string): Map<string, Tensor> {
  const found = [...golden.tensors].filter(([k]) => k.startsWith(prefix));
  return new Map(found.map(([k, v]) => [k.slice(prefix.length), v]));
}

/** Writes a model directory with the golden's weights. */
export async function goldenModel(golden: Golden, changes: Record<string, unknown> = {}): Promise<Model> {
  const dir = temporaryFolder("golden");
  const config = { architecture: "refusion", attention: "causal", ...golden.meta.config, ...changes };
  const weights = under(golden, "weight.");
  if ("tie_word_embeddings" in changes && changes.tie_word_embeddings === true) weights.delete("lm_head.weight");
  // any tokenizer serves, since no text is tokenized
  await saveModel(dir, baseConfigSchema.parse(config), weights, letters(1));
  return loadModel(dir);
}

export function goldenLora(golden: Golden): LoraOptions {
  const targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
  return { rank: golden.meta.rank, alpha: golden.meta.alpha, targets };
}

/** Lays out the golden's packed rounds [B, T, K] as terms, with one segment per round. */
export function goldenTerms(golden: Golden): Batch {
  const [batch, rounds, reveals] = (golden.tensors.get("input.rows") as Tensor).shape as [number, number, number];
  const terms = batch * rounds * reveals;
  return {
    inputs: {
      input_ids: golden.tensors.get("input.input_ids") as Tensor,
      position_ids: golden.tensors.get("input.position_ids") as Tensor,
      attention_bias: golden.tensors.get("input.attention_bias") as Tensor,
      rows: vector(golden.ints("input.rows")),
    },
    head: policyHead,
    headInputs: {
      targets: vector(golden.ints("input.targets")),
      inverse_temperature: scalar(1 / golden.meta.temperature),
      eos_allowed: vector(golden.floats("input.eos_allowed")),
    },
    coefficient: golden.floats("input.mask"),
    segment: BigInt64Array.from({ length: terms }, (_, r) => BigInt(Math.floor(r / reveals))),
    segments: batch * rounds,
    owner: Array.from({ length: batch * rounds }, (_, s) => Math.floor(s / rounds)),
    step: Array.from({ length: batch * rounds }, (_, s) => s % rounds),
    units: new Float32Array(batch * rounds).fill(1),
    logProb: golden.floats("input.old_log_probs"),
  };
}

/** Computes the largest difference relative to the largest expected magnitude. */
export function relativeError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (actual.length !== expected.length) throw new Error(`lengths ${actual.length} and ${expected.length} differ`);
  let difference = 0;
  let scale = 1e-12;
  for (let i = 0; i < expected.length; i++) {
    difference = Math.max(difference, Math.abs((actual[i] as number) - (expected[i] as number)));
    scale = Math.max(scale, Math.abs(expected[i] as number));
  }
  return difference / scale;
}
