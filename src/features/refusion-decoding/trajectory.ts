import { z } from "zod";
import type { Reveal } from "../../diffusion/sampler.js";
import { Canvas, type Recorded } from "../../diffusion/template.js";
import {
  checkEnded,
  checkTemplate,
  inconsistent,
  natural,
  readRecord,
  tokenFields,
} from "../../diffusion/trajectory.js";

const trajectorySchema = z.strictObject({
  ...tokenFields,
  slotSize: natural.min(1),
  temperature: z.literal(0),
  /** Number of forward passes for the response. */
  forwards: natural.min(1),
  /** Response positions in the order of commitment. */
  positions: z.array(natural),
  /** The forward pass, from 0, in which the token at `positions[i]` became final. */
  passes: z.array(natural),
});
/** A recorded response of the sampler `refusion`; as a search, it has no sampling probabilities. */
export type RefusionTrajectory = Recorded<typeof trajectorySchema>;

/**
 * Reads a trajectory from JSON data, and checks that it has every position once, and EOS only as the last token.
 * @param where names the source in messages.
 * @throws UserError that says what is inconsistent.
 */
export function parseTrajectory(data: unknown, where: string, eos: number): RefusionTrajectory {
  const trajectory = readRecord(trajectorySchema, data, where);
  const { positions, passes, forwards, response, template, slotSize } = trajectory;
  checkTemplate(trajectory, where, { slotSize });
  const [n, of] = [response.length, [positions.length, passes.length]];
  if (of.some((other) => other !== n)) inconsistent(where, `${of.join(" positions and ")} passes of ${n} tokens`);
  const sorted = [...positions].sort((a, b) => a - b);
  const cells = Canvas.of(template).cellsOf(response, eos);
  const odd = cells.find((cell, i) => cell !== sorted[i]);
  if (odd !== undefined) inconsistent(where, `position ${odd} of the response is not committed exactly once`);
  const beyond = passes.find((pass) => pass >= forwards);
  if (beyond !== undefined) inconsistent(where, `a token became final in forward ${beyond} of ${forwards}`);
  checkEnded(trajectory, where, eos);
  return trajectory;
}

/** Lists the forward pass in which each token became final, in the order of commitment. */
export function reveals({ positions, passes, response }: RefusionTrajectory): Reveal[] {
  const places = new Map([...positions].sort((a, b) => a - b).map((position, i) => [position, i]));
  return positions.map((position, i) => ({
    position,
    token: response[places.get(position) as number] as number,
    step: passes[i] as number,
    logProb: undefined,
  }));
}
