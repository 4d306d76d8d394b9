import { z } from "zod";
import { fail } from "../../../core/errors.js";
import { checked } from "../../../core/problems.js";
import { logNormaliser, stepLaw } from "./step.js";

const schema = z.strictObject({
  /** Observation: the state, then the depth image row by row if there is one. */
  state: z.array(z.number()),
  /** x_0 .. x_K, A numbers each; the last is the chunk of actions. */
  path: z.array(z.array(z.number()).min(1)).min(2),
  /** [K] log-probability of each step; empty if the steps were deterministic. */
  logProbs: z.array(z.number()),
  /** Noise level. */
  temperature: z.number().min(0),
  /** Draws of the flow-matching loss of this chunk, with its value under the sampling policy (pairs.ts). */
  pairs: z
    .array(z.strictObject({ time: z.number().min(0).max(1), noise: z.array(z.number()), loss: z.number().min(0) }))
    .min(1)
    .optional(),
});

/** The generation of a chunk of actions, in exact float32 numbers. */
export type FlowTrajectory = z.infer<typeof schema>;

/**
 * Reads a trajectory from JSON data.
 * @throws UserError if it is not a trajectory, has steps of different lengths, or impossible log-probabilities.
 */
export function parseTrajectory(data: unknown, where: string): FlowTrajectory {
  const trajectory = checked(schema, data, `${where} is no trajectory of actions`);
  const { path, logProbs, temperature, pairs = [] } = trajectory;
  const steps = path.length - 1;
  const size = path[0]?.length as number;
  if ([...path, ...pairs.map(({ noise }) => noise)].some((x) => x.length !== size))
    fail(`${where}: its steps have different numbers of actions.`);
  if (logProbs.length !== (temperature === 0 ? 0 : steps))
    fail(`${where}: ${steps} steps at temperature ${temperature} with ${logProbs.length} log-probabilities.`);
  logProbs.forEach((logProb, k) => {
    const most = size * logNormaliser(stepLaw(k, steps, temperature).std);
    if (logProb > most + 1e-6)
      fail(`${where}: step ${k} has the log-probability ${logProb}, above the density's peak ${most}.`);
  });
  return trajectory;
}
