import { z } from "zod";
import { UserError } from "../core/errors.js";
import { writeAtomic } from "../core/files.js";
import { problemsOf } from "../core/problems.js";
import { readJsonLines } from "./metrics.js";

const turn = z.looseObject({
  /** What the policy was shown, and what it answered, where these are texts. */
  prompt: z.string(),
  response: z.string(),
  /** What the turn earned by itself, where the environment says. */
  reward: z.number().optional(),
});

const schema = z.looseObject({
  /** Version of the format (docs/rollouts.md). */
  format: z.literal(2),
  step: z.int(),
  /** Index of the group in the step, and of the rollout in its group. */
  group: z.int(),
  rollout: z.int(),
  task_id: z.string(),
  form: z.string(),
  /** Null where the environment failed (`fault` says how). */
  reward: z.number().nullable(),
  success: z.boolean(),
  /** The environment's own measures by name. */
  metrics: z.record(z.string(), z.number()).nullable(),
  /** Null where the rollout was in no group that learns, or got different credit for its parts. */
  advantage: z.number().nullable(),
  /** Credit of each turn, or of each of its steps, where they differ. */
  credit: z.array(z.union([z.number(), z.array(z.number())])).optional(),
  fault: z.string().nullable(),
  tokens: z.int(),
  /** What was seen, answered and sampled, turn by turn. */
  turns: z.array(turn),
  /** What the environment keeps of the episode, for people. */
  detail: z.record(z.string(), z.unknown()),
});

/**
 * One line of rollouts/step-000001.jsonl: what the model wrote, what became of it, what it was worth.
 * Other keys (each turn's trajectory) are kept as they are.
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
