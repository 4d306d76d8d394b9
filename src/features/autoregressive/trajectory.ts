import { z } from "zod";
import type { Reveal } from "../../diffusion/sampler.js";
import { Canvas, type Recorded } from "../../diffusion/template.js";
import {
  checkChoices,
  checkEnded,
  checkTemplate,
  inconsistent,
  readRecord,
  tokenFields,
} from "../../diffusion/trajectory.js";

const trajectorySchema = z.strictObject({
  ...tokenFields,
  prompt: tokenFields.prompt.min(1),
  /** [response] log-probabilities in nats, at the trajectory's temperature. */
  logProbs: z.array(z.number()),
});
/** A recorded rollout of the sampler `autoregressive`, with one token per step. */
export type AutoregressiveTrajectory = Recorded<typeof trajectorySchema>;

/**
 * Reads a trajectory from JSON data.
 * @param where names the source in messages.
 * @param eos the model's EOS token: the response must contain it exactly at its ends.
 * @throws UserError that says what is inconsistent.
 */
export function parseTrajectory(data: unknown, where: string, eos: number): AutoregressiveTrajectory {
  const trajectory = readRecord(trajectorySchema, data, where);
  const { response, responseLength, logProbs, template } = trajectory;
  checkTemplate(trajectory, where);
  if (logProbs.length !== response.length) inconsistent(where, "response and logProbs differ in length");
  const odd = logProbs.find((logProb) => logProb > 1e-4);
  if (odd !== undefined) inconsistent(where, `${odd} is no log-probability`);
  if (response.length > responseLength)
    inconsistent(where, `${response.length} tokens on a canvas of ${responseLength}`);
  checkEnded(trajectory, where, eos);
  const canvas = Canvas.of(template);
  const cells = canvas.cellsOf(response, eos);
  const drawn = response.map((token, i) => [cells[i] as number, token] as const);
  checkChoices(canvas, drawn, where, eos);
  return trajectory;
}

/** Lists the tokens of the response, one per step. */
export const reveals = ({ response, logProbs }: AutoregressiveTrajectory): Reveal[] =>
  response.map((token, i) => ({ position: i, token, step: i, logProb: logProbs[i] }));
