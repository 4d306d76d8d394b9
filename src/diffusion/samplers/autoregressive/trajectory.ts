import { z } from "zod";
import { UserError } from "../../../core/errors.js";
import { problemsOf } from "../../../core/problems.js";
import type { Reveal } from "../../sampler.js";
import type { TokenTrajectory } from "../../trajectory.js";

const integer = z.number().int().nonnegative();

const trajectorySchema = z.strictObject({
  prompt: z.array(integer).min(1),
  responseLength: integer.min(1),
  temperature: z.number().nonnegative(),
  response: z.array(integer).min(1),
  logProbs: z.array(z.number()),
  ended: z.enum(["eos", "length"]),
});

/** A recorded rollout of the sampler `autoregressive`: a token a step. */
export interface AutoregressiveTrajectory extends TokenTrajectory {
  /** [response] nats, at the trajectory's temperature. */
  readonly logProbs: readonly number[];
}

/**
 * Reads a trajectory from JSON data.
 * @param where names the source in messages.
 * @param eos the model's EOS token: the response must hold it exactly where it ended.
 * @throws UserError that says what is inconsistent.
 */
export function parseTrajectory(data: unknown, where: string, eos: number): AutoregressiveTrajectory {
  const parsed = trajectorySchema.safeParse(data);
  if (!parsed.success) fail(where, problemsOf(parsed.error).trimStart());
  const { response, responseLength, logProbs, ended } = parsed.data;
  if (logProbs.length !== response.length) fail(where, "response and logProbs differ in length");
  const odd = logProbs.find((logProb) => logProb > 1e-4);
  if (odd !== undefined) fail(where, `${odd} is no log-probability`);
  const end = response.indexOf(eos);
  if (ended === "length" ? end >= 0 || response.length !== responseLength : end !== response.length - 1) {
    fail(where, `it has ${response.length} of ${responseLength} tokens, EOS at ${end}, and ended by ${ended}`);
  }
  if (response.length > responseLength) fail(where, `${response.length} tokens on a canvas of ${responseLength}`);
  return parsed.data;
}

function fail(where: string, problem: string): never {
  throw new UserError(`${where}: inconsistent trajectory: ${problem}`, {
    hint: "Record it again with this version; an edited or truncated trajectory cannot be scored.",
  });
}

export function reveals({ response, logProbs }: AutoregressiveTrajectory): Reveal[] {
  return response.map((token, i) => ({ position: i, token, step: i, logProb: logProbs[i] }));
}
