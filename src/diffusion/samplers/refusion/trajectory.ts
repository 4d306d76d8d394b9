import { z } from "zod";
import type { Reveal } from "../../sampler.js";
import { inconsistent, natural, readRecord, type TokenTrajectory, tokenFields } from "../../trajectory.js";

const trajectorySchema = z.strictObject({
  ...tokenFields,
  slotSize: natural.min(1),
  temperature: z.literal(0),
  forwards: natural.min(1),
  positions: z.array(natural),
  passes: z.array(natural),
});

/** A recorded response of the sampler `refusion`: a search, so there are no probabilities of having drawn it. */
export interface RefusionTrajectory extends TokenTrajectory {
  readonly slotSize: number;
  /** Forwards of the network that the response took. */
  readonly forwards: number;
  /** Response positions in the order of commitment. */
  readonly positions: readonly number[];
  /** The forward, from 0, in which the token at `positions[i]` became final. */
  readonly passes: readonly number[];
}

/**
 * Reads a trajectory from JSON data and checks it: every position of the response once, EOS only as the last token.
 * @param where names the source in messages.
 * @throws UserError that says what is inconsistent.
 */
export function parseTrajectory(data: unknown, where: string, eos: number): RefusionTrajectory {
  const trajectory = readRecord(trajectorySchema, data, where);
  const { positions, passes, forwards, response, responseLength, ended } = trajectory;
  if (positions.length !== response.length || passes.length !== response.length)
    inconsistent(
      where,
      `${positions.length} positions and ${passes.length} passes of a response of ${response.length} tokens`,
    );
  [...positions]
    .sort((a, b) => a - b)
    .forEach((position, i) => {
      if (position !== i) inconsistent(where, `position ${i} of the response is not committed exactly once`);
    });
  const late = passes.find((pass) => pass >= forwards);
  if (late !== undefined) inconsistent(where, `a token became final in forward ${late} of ${forwards}`);
  const end = response.indexOf(eos);
  if (ended === "eos" ? end !== response.length - 1 : end >= 0 || response.length !== responseLength)
    inconsistent(where, `it ended by ${ended} after ${response.length} of ${responseLength} tokens, EOS at ${end}`);
  return trajectory;
}

/** When each token became final, in the order of commitment. */
export function reveals(trajectory: RefusionTrajectory): Reveal[] {
  return trajectory.positions.map((position, i) => ({
    position,
    token: trajectory.response[position] as number,
    step: trajectory.passes[i] as number,
    logProb: undefined,
  }));
}
