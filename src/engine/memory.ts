/** Memory of a run: the one estimate of a session, a budget for several, and the least for a config's batches. */
import { totalmem } from "node:os";
import { ALL_LAYERS, type Recomputed } from "../autodiff/recompute.js";
import { LARGE } from "../autodiff/selective.js";
import type { RunConfig } from "../config/schema.js";
import { misuse } from "../core/errors.js";
import type { Sampler, SamplerOptions, SamplerShapes } from "../diffusion/sampler.js";
import type { RawModel } from "../onnx/format/raw-model.js";
import { peakActivationBytes } from "../onnx/liveness.js";
import { sizeOf } from "../onnx/shapes.js";
import { BYTES, type Graph, isExternal } from "../onnx/types.js";
import type { Parameter } from "../optim/optimizer.js";
import type { Objective } from "../rl/objective.js";

/** Node, ONNX Runtime, code and buffers of a run with an empty model, in bytes: measured on Linux x64. */
export const PROGRAM = 300 * 2 ** 20;
/** Copies of the adapter: policy, reference, gradient, zeros, two moments, and two while a checkpoint is written. */
export const ADAPTER_COPIES = 8;

/** Returns the memory that this process may use, in bytes: the machine's, or its container's limit. */
export function machineMemory(): number {
  // 0 or absurdly large where no limit is set
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** A session's arena relative to its graph's peak: measured at 135 M parameters. */
const ARENA = 1.15;

/**
 * Estimates a session's bytes: activations, and on the CPU its own copies of the weights, one for each layout in which
 * they are multiplied. Other devices hold the weights once for all sessions.
 * @param sizes of its graph's open dimensions.
 */
export function sessionBytes(
  graph: Graph,
  copiesWeights: boolean,
  sizes: Readonly<Record<string, number>> = {},
): number {
  const ways = new Set<string>();
  let weights = 0;
  for (const { op, inputs, attributes } of copiesWeights ? graph.nodes : []) {
    for (const [place, input] of inputs.entries()) {
      const initializer = input && graph.initializers.get(input.name);
      const way = `${input?.name} ${op} ${place} ${attributes.transB ?? 0}`;
      if (initializer === undefined || !isExternal(initializer.data) || ways.has(way)) continue;
      ways.add(way);
      weights += sizeOf(initializer.value.shape) * BYTES[initializer.value.dtype];
    }
  }
  return weights + ARENA * peakActivationBytes(graph, sizes);
}

/**
 * Returns the memory left for sessions, in bytes, beside the program, copies of the trained parameters, and on a device
 * the weights.
 * @param memory in bytes.
 */
export function sessionBudget(
  memory: number,
  { initializers }: Pick<RawModel, "initializers">,
  parameters: readonly Parameter[],
  copiesWeights: boolean,
): number {
  const trained = 4 * parameters.reduce((n, { shape }) => n + sizeOf(shape), 0);
  const weights = [...initializers.values()].reduce(
    (n, { value, data }) => n + (isExternal(data) ? sizeOf(value.shape) * BYTES[value.dtype] : 0),
    0,
  );
  return Math.max(0, memory - ADAPTER_COPIES * trained - (copiesWeights ? PROGRAM : weights));
}

/**
 * Chooses the least recomputation of a training graph within a budget: nothing, then large results of cheap ops, then
 * as many first layers as needed, as wholes. All layers are assumed to save about the same.
 * @param budget bytes of a session.
 * @param layers of the model.
 * @param bytes of the session with this recomputation.
 * @returns the choice with the smallest session where none fits.
 */
export function recomputedWithin(
  budget: number,
  layers: number,
  given: Recomputed,
  bytes: (recomputed: Recomputed) => number,
): Recomputed {
  if (given.layers !== undefined || bytes(given) <= budget) return given;
  const cheap: Recomputed = { cheap: LARGE };
  const most = bytes(cheap);
  if (most <= budget) return cheap;
  const all: Recomputed = { layers: ALL_LAYERS };
  const least = bytes(all);
  const needed = Math.ceil((layers * (most - budget)) / (most - least));
  if (least > budget || needed >= layers) return all;
  const some: Recomputed = { layers: needed, cheap: LARGE };
  return bytes(some) <= budget ? some : all;
}

/** The uses of a config's batches. */
export interface Batches {
  /** The sampler of rollouts. */
  readonly sampler: Sampler;
  readonly options: SamplerOptions;
  /** The sampler of evaluations. */
  readonly evaluation: { readonly sampler: Sampler; readonly options: SamplerOptions };
  /** Undefined for evaluation only. */
  readonly objective: Objective | undefined;
  /** V */
  readonly vocabulary: number;
}

/**
 * Checks the arrays that every graph of a batch needs: attention bias [B, N, N] and logits [R, V], float32. Far below a
 * run's needs, but known before a graph is built or an array allocated.
 * @param machine memory in bytes.
 * @throws UserError where the batches of a config are far too large for the machine.
 */
export function assertBatchesFit(
  { training, evaluation }: Pick<RunConfig, "training" | "evaluation">,
  { sampler, options, objective, vocabulary, ...batches }: Batches,
  machine: number,
): void {
  // supervised examples have their own lengths, and nothing is generated
  if (objective?.learnsFrom === "supervision") return;
  const { promptLength, responseLength } = options;
  const roundOf = (shapes: SamplerShapes): { length: number; rows: number } => ({
    length: shapes.dims(1).N ?? 0,
    rows: shapes.rows ?? 0,
  });
  const evaluated = batches.evaluation.sampler.shapes(batches.evaluation.options);
  const sizes = [{ key: "evaluation.batch", batch: evaluation.batch, ...roundOf(evaluated) }];
  if (objective !== undefined) {
    const sequence = { length: promptLength + responseLength, rows: responseLength };
    sizes.push(
      { key: "training.rollout_batch", batch: training.rollout_batch, ...roundOf(sampler.shapes(options)) },
      { key: "training.micro_batch", batch: training.micro_batch, ...sequence },
    );
  }
  for (const { key, batch, length, rows } of sizes) {
    const bytes = 4 * batch * (length ** 2 + rows * vocabulary);
    if (bytes <= machine) continue;
    misuse(
      `${key}=${batch} with sequences of ${length} tokens takes at least ${gib(bytes)} of memory; the machine has ${gib(machine)}.`,
      { hint: `lower ${key}, sampler.response_length or sampler.prompt_length` },
    );
  }
}

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
