import { z } from "zod";
import { UserError } from "../core/errors.js";
import { problemsOf } from "../core/problems.js";

/** What a sampler recorded of one turn: plain data, which JSON holds exactly. Only its own sampler looks inside. */
export type Trajectory = object;

/** What every sampler of text records. */
export interface TokenTrajectory {
  readonly prompt: readonly number[];
  /** L: positions of the canvas. */
  readonly responseLength: number;
  /** tau; 0 is greedy, with log-probabilities at temperature 1. */
  readonly temperature: number;
  /** Through EOS, or L tokens. */
  readonly response: readonly number[];
  readonly ended: "eos" | "length";
}

/** A token id, a position, a count. */
export const natural = z.int().nonnegative();

/** What the record of every sampler of text holds, as data. */
export const tokenFields = {
  prompt: z.array(natural),
  responseLength: natural.min(1),
  temperature: z.number().nonnegative(),
  response: z.array(natural).min(1),
  ended: z.enum(["eos", "length"]),
};

/**
 * Data in the shape of a record, as it lies: its keys keep their order, so that it is written again in the same bytes.
 * @param where names the source in messages.
 * @throws UserError where it has another.
 */
export function readRecord<T>(schema: z.ZodType<T>, data: unknown, where: string): T {
  const parsed = schema.safeParse(data);
  return parsed.success ? (data as T) : inconsistent(where, problemsOf(parsed.error).trimStart());
}

/** @throws UserError: what was read could not have been sampled. */
export function inconsistent(where: string, problem: string): never {
  throw new UserError(`${where}: inconsistent trajectory: ${problem}`, {
    hint: "Record it again with this version; an edited or truncated trajectory cannot be scored.",
  });
}
