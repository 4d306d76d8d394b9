import { z } from "zod";
import type { Reveal } from "../../../diffusion/sampler.js";
import { Canvas, type Recorded, type TokenTemplate } from "../../../diffusion/template.js";
import type { SampledModel } from "../../../diffusion/tokens.js";
import {
  checkTemplate,
  inconsistent,
  natural,
  readRecord,
  type TokenTrajectory,
  tokenFields,
} from "../../../diffusion/trajectory.js";
import { ordinaryTokens } from "./options.js";

/** The canvas after a step: [L] tokens, and the log-probability (nats) of each position's transition. */
const step = z.strictObject({ tokens: z.array(natural), logProbs: z.array(z.number()) });
export type JumpStep = Recorded<typeof step>;

const schema = z.strictObject({
  ...tokenFields,
  temperature: z.number().positive(),
  /** n of kappa(t) = t^n. */
  exponent: z.number().positive(),
  /** [L] x_0: the initial noise. */
  source: z.array(natural),
  steps: z.array(step).min(1),
});
/** A recorded rollout of the sampler `jump`: every state of the canvas, on the uniform grid of its steps. */
export type JumpTrajectory = Recorded<typeof schema>;

/** Reads the response from the final canvas, each blank up to its first EOS. */
export function responseOf(
  tokens: readonly number[],
  eos: number,
  template?: TokenTemplate,
): Pick<TokenTrajectory, "response" | "ended"> {
  const canvas = Canvas.of(template);
  const response = canvas.read(tokens, eos);
  return { response, ended: canvas.cut(response, eos).length === 0 ? "eos" : "length" };
}

/**
 * Reads a trajectory from JSON data and checks that it could have been sampled.
 * @throws UserError that says what is inconsistent.
 */
export function parseJumpTrajectory(data: unknown, where: string, model: SampledModel): JumpTrajectory {
  const trajectory: JumpTrajectory = readRecord(schema, data, where);
  const { responseLength: length, source, steps } = trajectory;
  checkTemplate(trajectory, where);
  const ordinary = new Set(ordinaryTokens(model));
  const check = (name: string, canvas: readonly number[]): void => {
    if (canvas.length !== length) inconsistent(where, `${name} has ${canvas.length} tokens on a canvas of ${length}`);
    const odd = canvas.find((id) => !ordinary.has(id));
    if (odd !== undefined) inconsistent(where, `${name} holds the token ${odd}, which is never sampled`);
  };
  check("the source", source);
  steps.forEach((step, k) => {
    check(`step ${k}`, step.tokens);
    if (step.logProbs.length !== length) inconsistent(where, `step ${k} has ${step.logProbs.length} log-probabilities`);
    const odd = step.logProbs.findIndex((x) => !Number.isFinite(x) || x > 1e-4);
    if (odd >= 0) inconsistent(where, `step ${k}: ${step.logProbs[odd]} at position ${odd} is no log-probability`);
  });
  const final = steps.at(-1) as JumpStep;
  const { response, ended } = responseOf(final.tokens, model.tokens.eos, trajectory.template);
  if (ended !== trajectory.ended) inconsistent(where, `it ended by ${trajectory.ended}, its last canvas by ${ended}`);
  if (response.join() !== trajectory.response.join())
    inconsistent(where, "the response is not what its last canvas spells");
  return trajectory;
}

/** Returns the step since which each token of the response has stayed. */
export function jumpReveals({ source, steps, response, template }: JumpTrajectory): Reveal[] {
  const canvas = Canvas.of(template);
  const final = (steps.at(-1) as JumpStep).tokens;
  // a record is read without its model: EOS is the token with which the last canvas reads as the response
  const eos = response.find((token) => canvas.read(final, token).join() === response.join()) ?? -1;
  const cells = canvas.cellsOf(response, eos);
  return response.map((id, i) => {
    const cell = cells[i] as number;
    let step = steps.length - 1;
    const before = (k: number): number | undefined => (k === 0 ? source : steps[k - 1]?.tokens)?.[cell];
    while (step > 0 && before(step) === id) step--;
    return { position: cell, token: id, step, logProb: steps[step]?.logProbs[cell] };
  });
}
