import { fail } from "../../core/errors.js";
import { crossEntropy } from "../../diffusion/cross-entropy.js";
import type { SupervisedExample } from "../../diffusion/examples.js";
import type { Batch } from "../../diffusion/layout/batch.js";
import { bucketLength } from "../../diffusion/layout/buffer.js";
import type { LayoutSizes, StepLayout, SupervisedLayout } from "../../diffusion/layout/scorings.js";
import { layText } from "../../diffusion/layout/text.js";
import { type CacheUse, type SamplerOptions, scoringTemperature } from "../../diffusion/sampler.js";
import { allowedInText, textTerms as layOutText } from "../../diffusion/samplers/unmask/text.js";
import { constrainedHead, policyHead } from "../../diffusion/score-head.js";
import { Canvas } from "../../diffusion/template.js";
import { commonTemperature, stepTerms as layOutSteps, type StepBuffer } from "../../diffusion/terms.js";
import type { AutoregressiveTrajectory } from "./trajectory.js";

/** Options of the sampler `autoregressive`. */
export interface AutoregressiveOptions extends SamplerOptions {
  /** Use of a cache of keys and values, if the model's graph supports it. */
  readonly kvCache: CacheUse;
}

/** Computes the shapes of a rollout's forward passes: one row per sequence, as many steps as tokens. */
export function autoregressiveShapes({ promptLength, responseLength: steps }: AutoregressiveOptions) {
  const length = promptLength + steps;
  return { length, dims: (batch: number) => ({ B: batch, N: length }), rows: 1, steps };
}

/** Lays out one step per token: all in one sequence, or (`packed: false`) each in its own, behind its context. */
export function stepTerms(
  trajectories: readonly AutoregressiveTrajectory[],
  options: AutoregressiveOptions,
  layout: StepLayout,
): Batch {
  const { pad, eos } = options.model.tokens;
  const packed = layout.packed ?? true;
  const { steps, length } = autoregressiveShapes(options);
  const buffers = trajectories.flatMap((trajectory, b) => {
    const chosen = layout.subset?.[b] ?? trajectory.response.map((_, i) => i);
    return packed ? [laidOut(trajectory, b, chosen, eos)] : chosen.map((step) => laidOut(trajectory, b, [step], eos));
  });
  const longest = Math.max(0, ...buffers.map(({ buffer }) => buffer.ids.length));
  const sizes = {
    steps,
    sequences: packed ? 1 : steps,
    length: packed ? bucketLength(longest, layout.lengthStep) : length,
    whole: trajectories.map(({ response }) => ({ steps: response.length, terms: response.length })),
  };
  const head = isConstrained(trajectories) ? constrainedHead : policyHead;
  return layOutSteps(buffers, sizes, layout, { temperature: temperatureOf(trajectories), head, pad, filler: eos });
}

const isConstrained = (trajectories: readonly AutoregressiveTrajectory[]): boolean =>
  trajectories.some(({ template }) => Canvas.of(template).isConstrained);

function laidOut(
  { prompt, template, response, logProbs }: AutoregressiveTrajectory,
  trajectory: number,
  chosen: readonly number[],
  eos: number,
): StepBuffer {
  const { buffer, rows } = layText({ prompt, template, response: response.slice(0, chosen.at(-1) ?? 0) }, eos);
  const allowed = allowedInText({ template, response }, eos);
  const steps = chosen.map((step) => {
    const target = response[step];
    if (target === undefined) fail(`Step ${step} of a response of ${response.length} tokens`);
    const row = rows[step] as number;
    const logProb = logProbs[step] as number;
    return {
      step,
      terms: [{ row, target, position: step, logProb, features: { eos_allowed: 1 }, allowed: allowed[step] }],
    };
  });
  return { buffer, trajectory, steps };
}

/** Lays out the response's exact log-probability, one segment per token. */
export function textTerms(
  trajectories: readonly AutoregressiveTrajectory[],
  options: AutoregressiveOptions,
  layout: LayoutSizes,
): Batch {
  return layOutText(trajectories, options, layout, temperatureOf(trajectories), isConstrained(trajectories));
}

const temperatureOf = (trajectories: readonly AutoregressiveTrajectory[]): number =>
  commonTemperature(trajectories.map(({ temperature }) => scoringTemperature(temperature)));

/** Lays out the next-token cross-entropy, averaged over all tokens of the responses, EOS included. */
export function supervisedTerms(
  examples: readonly SupervisedExample[],
  options: AutoregressiveOptions,
  layout: SupervisedLayout,
): Batch[] {
  const { eos } = options.model.tokens;
  return crossEntropy(examples, options, layout, "sampler.kind=autoregressive", (example) =>
    layText({ ...example, response: example.response.slice(0, -1) }, eos),
  );
}
