import { z } from "zod";
import { UserError } from "../core/errors.js";
import { writeAtomic } from "../core/files.js";
import { problemsOf } from "../core/problems.js";
import { readJsonLines } from "./metrics.js";

const schema = z.looseObject({
  /** Version of the format (docs/rollouts.md); files from before it was written are version 1. */
  format: z.literal(1).optional(),
  step: z.int(),
  /** Index of the group in the step, and of the rollout in its group. */
  group: z.int(),
  rollout: z.int(),
  task_id: z.string(),
  form: z.string(),
  prompt: z.string(),
  response: z.string(),
  /** Null where the environment failed (`fault` says how). */
  reward: z.number().nullable(),
  parts: z
    .strictObject({ task_completion: z.number(), field_accuracy: z.number(), execution_completeness: z.number() })
    .nullable(),
  success: z.boolean(),
  /** Null where the rollout was in no group that learns. */
  advantage: z.number().nullable(),
  accepted: z.boolean(),
  /** The task's true values by label. */
  truth: z.record(z.string(), z.unknown()),
  /** What the server received, in order: [name, value]. */
  posted: z.array(z.tuple([z.string(), z.string()])),
  actions: z.array(z.looseObject({ action: z.string(), fate: z.string(), detail: z.string().optional() })),
  /** By the truth's labels: what the server received there (or the page held, where nothing was sent), and its score. */
  received: z.record(z.string(), z.unknown()).optional(),
  field_scores: z.record(z.string(), z.number()).optional(),
  fault: z.string().nullable(),
  tokens: z.int(),
});

/**
 * One line of rollouts/step-000001.jsonl: what the model wrote, what the page did with it, what it was worth.
 * Other keys (the sampler's trajectory) are kept as they are.
 */
export type RolloutRecord = z.infer<typeof schema>;

/** Writes the rollouts of a step at once: a step that runs again after a resume replaces them. */
export async function writeRollouts(path: string, records: readonly RolloutRecord[]): Promise<void> {
  await writeAtomic(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
}

/** @throws UserError that names the first line that is no rollout, or the file where it was cut off: it is written at once. */
export function readRollouts(path: string): RolloutRecord[] {
  return readJsonLines(path, { whole: true }).map(({ value, line }) => parseRollout(value, `${path}, line ${line}`));
}

/** @throws UserError that says where and what is wrong. */
export function parseRollout(value: unknown, where: string): RolloutRecord {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new UserError(`${where} is no rollout:${problemsOf(result.error)}`);
}
