import { totalmem } from "node:os";
import type { RunConfig } from "../config/schema.js";
import { misuse } from "../core/errors.js";
import type { Sampler, SamplerOptions, SamplerShapes } from "../diffusion/sampler.js";
import type { Objective } from "../rl/objective.js";

/** Node, ONNX Runtime, code and buffers of a run on a model of no size, in bytes: measured on Linux x64. */
export const PROGRAM = 300 * 2 ** 20;
/** Copies of the adapter: policy, reference, gradient, zeros, two moments, and two on the way to a checkpoint. */
export const ADAPTER_COPIES = 8;

/** Memory that this process may use, in bytes: the machine's, or its container's limit. */
export function machineMemory(): number {
  // 0 or absurdly large where no limit is set
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Purpose of a config's batches. */
export interface Batches {
  /** The way rollouts are generated. */
  readonly sampler: Sampler;
  readonly options: SamplerOptions;
  /** The way evaluations are. */
  readonly evaluation: { readonly sampler: Sampler; readonly options: SamplerOptions };
  /** Undefined for evaluation only. */
  readonly objective: Objective | undefined;
  /** V */
  readonly vocabulary: number;
}

/**
 * The arrays of one batch that no graph can do without: attention bias [B, N, N] and logits [R, V], float32. Far below
 * what a run needs (memory.ts), but known before a graph is built or an array is made.
 * @param machine memory in bytes.
 * @throws UserError where the batches of a config are far too large for the machine.
 */
export function assertBatchesFit(
  { training, evaluation }: Pick<RunConfig, "training" | "evaluation">,
  { sampler, options, objective, vocabulary, ...batches }: Batches,
  machine: number,
): void {
  // examples of supervised training are as long as they are, and it generates nothing
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
