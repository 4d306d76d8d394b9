import { totalmem } from "node:os";
import type { RunConfig } from "../config/schema.js";
import { misuse } from "../core/errors.js";
import type { Sampler, SamplerOptions, SamplerShapes } from "../diffusion/sampler.js";
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
 * run's needs (memory.ts), but known before a graph is built or an array allocated.
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
