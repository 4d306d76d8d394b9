import { bucketLength } from "../../../diffusion/layout/buffer.js";
import { type RoundModel, scoringTemperature } from "../../../diffusion/sampler.js";
import { layCanvas } from "../../../diffusion/samplers/unmask/canvas.js";
import type { UnmaskOptions } from "../../../diffusion/samplers/unmask/options.js";
import type { RowStatistics } from "../../../diffusion/samplers/unmask/round.js";
import { totalLogProb } from "../../../diffusion/samplers/unmask/trajectory.js";
import { sampler as unmask } from "../../../diffusion/samplers/unmask.js";
import { policyHead } from "../../../diffusion/score-head.js";
import { Canvas, templateOf } from "../../../diffusion/template.js";
import {
  figures,
  type Measurement,
  type Proof,
  smallCanvas,
  takePrompts,
  type VerifyContext,
} from "../../verify/proof.js";
import { RestrictedModel } from "../restricted-model.js";
import { vocabularyLogProbs } from "../vocabulary.js";

const LIMIT = 1e-5;
/** Tokens besides EOS of the enumerated policy. */
const CHOICES = 3;
const CANVAS = 4;

/**
 * Verifies that probabilities add up to 1: those of all tokens at one mask, with EOS and without it, and those of all
 * outcomes of a canvas of four positions, restricted to a few tokens so that the sampler itself can enumerate them. The
 * latter sum is not 1 if the choice of revealed positions depends on the sampled tokens, because the score does not
 * include that choice.
 * @param distort replaces the network that the sampler sees.
 * @param rollout samples and records the draws.
 */
export async function measureProbabilities(
  context: VerifyContext,
  distort: (model: RoundModel<RowStatistics>) => RoundModel<RowStatistics> = (model) => model,
  rollout: typeof unmask.rollout = unmask.rollout,
): Promise<Measurement[]> {
  const [prompt] = takePrompts(context, 1) as [readonly number[]];
  const withEos = await atFirstMask(context, prompt, 1);
  const without = await atFirstMask(context, prompt, 0);
  const choices = bestTokens(context, withEos);
  const given = context.prompts.some((start) => "parts" in start) ? choices.slice(1, 3) : undefined;
  const eager = await enumerate(context, { prompt, given }, choices, 0, distort, rollout);
  const reluctant = await enumerate(context, { prompt, given }, choices, -2, distort, rollout);
  const of = given === undefined ? `${CANVAS} positions` : `${CANVAS} positions in two blanks`;
  const off = (p: readonly number[]): number => Math.abs(p.reduce((total, x) => total + x, 0) - 1);
  return figures(LIMIT, [
    ["one token, EOS allowed", off(withEos), `|sum - 1| over ${withEos.length} tokens`],
    ["one token, EOS forbidden", off(without), `|sum - 1| over ${without.length} tokens`],
    ["all outcomes of a short canvas", off(eager), `|sum - 1| over ${eager.length} outcomes of ${of}`],
    ["all outcomes, EOS less likely", off(reluctant), `|sum - 1| over ${reluctant.length} outcomes of ${of}`],
  ]);
}

/** Computes p [V] of every token at the first mask after the prompt. */
async function atFirstMask(
  { policy }: VerifyContext,
  prompt: readonly number[],
  eosAllowed: 0 | 1,
): Promise<readonly number[]> {
  const { options } = policy;
  const free = { prompt, canvas: Canvas.FREE, revealed: new Map(), slotSize: 1 };
  const { buffer, indexOf } = layCanvas(free, 1, options.model);
  const logProbs = await vocabularyLogProbs(
    policy,
    { buffer, features: { eos_allowed: eosAllowed }, length: bucketLength(buffer.ids.length) },
    indexOf[0] as number,
    { temperature: scoringTemperature(options.temperature), head: policyHead },
  );
  return Array.from(logProbs, Math.exp);
}

/** Selects EOS, then the most probable other tokens. */
function bestTokens({ policy }: VerifyContext, p: readonly number[]): number[] {
  const { tokens } = policy.options.model;
  const ordinary = [...p.keys()].filter((token) => !Object.values(tokens).includes(token));
  ordinary.sort((a, b) => (p[b] as number) - (p[a] as number));
  return [tokens.eos, ...ordinary.slice(0, CHOICES)];
}

/** Computes the probabilities of all outcomes of a canvas. */
async function enumerate(
  context: VerifyContext,
  { prompt, given }: { readonly prompt: readonly number[]; readonly given: readonly number[] | undefined },
  choices: readonly number[],
  eosShift: number,
  distort: (model: RoundModel<RowStatistics>) => RoundModel<RowStatistics>,
  rollout: typeof unmask.rollout,
): Promise<number[]> {
  const { engine } = context.policy;
  const half = { needs: CANVAS / 2, whole: true } as const;
  const parts = given && [given, { name: "a", ...half }, given, { name: "b", ...half }];
  const small = {
    ...smallCanvas(context.policy, CANVAS, 4),
    promptLength: prompt.length,
    responseLength: CANVAS + 2 * (given?.length ?? 0),
  } as UnmaskOptions;
  const start = parts === undefined ? prompt : { prompt, parts };
  const canvas = Canvas.of(templateOf(start, small));
  const restricted = new RestrictedModel(engine, choices, eosShift, prompt.length);
  const model = distort(restricted);
  const probabilities = new Map<string, number>();
  for (let code = 0; code < choices.length ** CANVAS; code++) {
    restricted.forced = [];
    for (let i = 0; i < CANVAS; i++)
      restricted.forced[canvas.position(i)] = Math.floor(code / choices.length ** i) % choices.length;
    // the same noise every time, so that a random order is always the same
    const [trajectory] = await rollout(model, [start], small, [context.rng("enumerate")]);
    if (trajectory === undefined) continue;
    const key = JSON.stringify(trajectory.rounds.map((round) => [round.positions, round.tokens]));
    probabilities.set(key, Math.exp(totalLogProb(trajectory)));
  }
  return [...probabilities.values()];
}

export const proof: Proof = {
  claim: "probabilities of all outcomes add up to 1",
  sampler: "unmask",
  run: (context) => measureProbabilities(context),
};
