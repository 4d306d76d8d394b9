import { z } from "zod";
import { fromOutside } from "../core/boundary.js";
import { fail } from "../core/errors.js";
import { writeAtomic } from "../core/files.js";
import { checked } from "../core/problems.js";
import { natural } from "../diffusion/trajectory.js";
import { LARGEST_REWARD } from "../env/environment.js";
import { readJsonLines } from "./metrics.js";

const bounded = z.number().min(-LARGEST_REWARD).max(LARGEST_REWARD);
/** A count of steps, groups or tokens, bounded because code iterates over it. */
const counted = natural.max(1e8);

const RECORD_AGAIN = "Record the rollouts again with this version; edited ones teach what never happened.";

/** The most numbers in one trajectory, and the largest: log-probabilities, ids, positions, coordinates. */
const MOST_NUMBERS = 2_000_000;
const LARGEST_NUMBER = 1e7;
const DEEPEST = 32;

/** @returns the fault of a record's numbers, or undefined. */
function oddNumber(data: unknown): string | undefined {
  let count = 0;
  const walk = (value: unknown, path: string, depth = 0): string | undefined => {
    if (depth > DEEPEST) return `more than ${DEEPEST} levels`;
    if (typeof value === "number") {
      if (++count > MOST_NUMBERS) return `more than ${MOST_NUMBERS} numbers`;
      return Math.abs(value) <= LARGEST_NUMBER ? undefined : `${path}: ${value} is beyond +-${LARGEST_NUMBER}`;
    }
    if (typeof value !== "object" || value === null) return undefined;
    for (const [key, item] of Object.entries(value)) {
      const odd = walk(item, path === "" ? key : `${path}.${key}`, depth + 1);
      if (odd !== undefined) return odd;
    }
    return undefined;
  };
  return walk(data, "");
}

/** A trajectory of any sampler, which alone interprets it: only the size of its numbers is checked here. */
const trajectory = z.unknown().superRefine((data, context) => {
  const odd = oddNumber(data);
  if (odd !== undefined) context.addIssue({ code: "custom", message: odd });
});

const turn = z.looseObject({
  /** The policy's observation and answer, where these are texts. */
  prompt: z.string(),
  response: z.string(),
  /** Reward of the turn alone, where the environment gives one. */
  reward: bounded.optional(),
  /** Rewards of parts of the response, where the environment gives them. */
  parts: z.array(z.object({ name: z.string(), start: counted, end: counted, reward: bounded })).optional(),
  trajectory: trajectory.optional(),
});

const schema = z.looseObject({
  /** Version of the format (docs/rollouts.md). */
  format: z.literal(2),
  step: counted.min(1),
  /** Index of the group in the step, and of the rollout in its group. */
  group: counted,
  rollout: counted,
  task_id: z.string(),
  form: z.string(),
  /** Null where the environment failed (`fault` says how). */
  reward: bounded.nullable(),
  success: z.boolean(),
  /** The environment's own measures by name. */
  metrics: z.record(z.string(), z.number()).nullable(),
  /** Null where the rollout was in no group with signal, or its parts have different credit. */
  advantage: z.number().nullable(),
  /** Credit of each turn, or of each of its steps or tokens, where they differ. */
  credit: z.array(z.union([z.number(), z.array(z.number()), z.object({ tokens: z.array(z.number()) })])).optional(),
  fault: z.string().nullable(),
  tokens: counted,
  /** Observation, answer and trajectory, turn by turn. */
  turns: z.array(turn),
  /** The environment's detail of the episode, for people. */
  detail: z.record(z.string(), z.unknown()),
});

/**
 * One line of rollouts/step-000001.jsonl: the model's text, the outcome and the reward. Other keys (each turn's
 * trajectory) are kept unchanged.
 */
export type RolloutRecord = z.infer<typeof schema>;

/** Writes the rollouts of a step at once: a repeated step after a resume replaces them. */
export async function writeRollouts(path: string, records: readonly RolloutRecord[]): Promise<void> {
  await writeAtomic(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
}

/**
 * Reads a file of rollouts.
 * @throws UserError that names the first line that is not a rollout, or a truncated file (files are written at once).
 */
export const readRollouts = (path: string): RolloutRecord[] => fromOutside(path, RECORD_AGAIN, () => readLines(path));

function readLines(path: string): RolloutRecord[] {
  const named = /step-(\d+)\.jsonl$/.exec(path)?.[1];
  const places = new Map<string, number>();
  return readJsonLines(path, { whole: true }).map(({ value, line }) => {
    const record = parseRollout(value, `${path}, line ${line}`);
    const odd = (problem: string): never => {
      fail(`${path}, line ${line}: ${problem}.`, {
        hint: RECORD_AGAIN,
      });
    };
    if (named !== undefined && record.step !== Number(named))
      odd(`it is of step ${record.step}, the file of step ${Number(named)}`);
    if ((record.reward === null) !== (record.fault !== null)) odd("a rollout has either a reward or a fault");
    const place = `rollout ${record.rollout} of group ${record.group}`;
    const first = places.get(place);
    if (first !== undefined) odd(`${place} is in line ${first} already`);
    places.set(place, line);
    return record;
  });
}

/** Reads one rollout. @throws UserError with the place and the fault. */
export function parseRollout(value: unknown, where: string): RolloutRecord {
  return checked(schema, value, `${where} is no rollout`, {
    hint: RECORD_AGAIN,
  });
}
