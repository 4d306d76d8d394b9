import { UserError } from "../../../core/errors.js";
import type { Batch } from "../../batch.js";
import { BufferBuilder, bucketLength } from "../../buffer.js";
import type { LayoutSizes, StepLayout, SupervisedLayout } from "../../layouts.js";
import { packTerms } from "../../packing.js";
import { scoringTemperature } from "../../sampler.js";
import { modelHead, policyHead } from "../../score-head.js";
import { fillCanvas, type SupervisedExample } from "../../supervised.js";
import { commonTemperature, stepTerms as layOutSteps, type StepBuffer } from "../../terms.js";
import { textTerms as layOutText } from "../unmask/text.js";
import { type AutoregressiveOptions, autoregressiveShapes } from "./options.js";
import type { AutoregressiveTrajectory } from "./trajectory.js";

/** A token is a step: all of them in one sequence, or (`packed: false`) each behind what it was drawn from. */
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
    return packed ? [laidOut(trajectory, b, chosen)] : chosen.map((step) => laidOut(trajectory, b, [step]));
  });
  const longest = Math.max(0, ...buffers.map(({ buffer }) => buffer.ids.length));
  return layOutSteps(
    buffers,
    {
      steps,
      terms: options.responseLength,
      sequences: packed ? 1 : steps,
      length: packed ? bucketLength(longest, layout.lengthStep) : length,
      whole: trajectories.map(({ response }) => ({ steps: response.length, terms: response.length })),
    },
    layout,
    { temperature: temperatureOf(trajectories), head: policyHead, pad, filler: eos },
  );
}

function laidOut(
  { prompt, response, logProbs }: AutoregressiveTrajectory,
  trajectory: number,
  chosen: readonly number[],
): StepBuffer {
  const buffer = new BufferBuilder(prompt);
  response.slice(0, chosen.at(-1) ?? 0).forEach((token, i) => void buffer.push(token, i));
  const steps = chosen.map((step) => {
    const target = response[step];
    if (target === undefined) throw new UserError(`Step ${step} of a response of ${response.length} tokens`);
    const row = prompt.length - 1 + step;
    const logProb = logProbs[step] as number;
    return { step, terms: [{ row, target, position: step, logProb, features: { eos_allowed: 1 } }] };
  });
  return { buffer, trajectory, steps };
}

/** The response's exact log-probability, a segment a token. */
export function textTerms(
  trajectories: readonly AutoregressiveTrajectory[],
  options: AutoregressiveOptions,
  layout: LayoutSizes,
): Batch {
  return layOutText(trajectories, options, layout, temperatureOf(trajectories));
}

function temperatureOf(trajectories: readonly AutoregressiveTrajectory[]): number {
  return commonTemperature(trajectories.map(({ temperature }) => scoringTemperature(temperature)));
}

/** Cross-entropy of the next token, the mean over the tokens of the responses, EOS included. */
export function supervisedTerms(
  examples: readonly SupervisedExample[],
  options: AutoregressiveOptions,
  { arWeight, packLength }: SupervisedLayout,
): Batch[] {
  if (arWeight !== null) {
    throw new UserError(
      "sampler.kind=autoregressive has one loss, the autoregressive one: there is nothing to weigh.",
      {
        hint: "Set objective.ar_weight=null.",
        exitCode: 2,
      },
    );
  }
  const { pad, eos } = options.model.tokens;
  const total = examples.reduce((n, { response }) => n + response.length + 1, 0);
  const scored = examples.map((example) => {
    const { prompt } = fillCanvas(example, options, eos);
    const buffer = new BufferBuilder(prompt);
    const terms = [...example.response, eos].map((target, i) => {
      const row = buffer.length - 1;
      if (i < example.response.length) buffer.push(target, i);
      return { row, target, coefficient: 1 / total, segment: 0 };
    });
    return { buffer, terms };
  });
  return packTerms(
    scored,
    { length: options.promptLength + options.responseLength, terms: options.responseLength },
    packLength,
    { owner: [0], tokens: new Float32Array(1), temperature: 1, head: modelHead, pad, filler: eos },
  );
}
