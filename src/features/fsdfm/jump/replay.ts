import { fail } from "../../../core/errors.js";
import type { Batch } from "../../../diffusion/layout/batch.js";
import type { StepLayout } from "../../../diffusion/layout/scorings.js";
import { commonTemperature, type StepBuffer, stepTerms } from "../../../diffusion/terms.js";
import { flowBuffer, flowStart } from "./canvas.js";
import { transitionHead } from "./heads.js";
import { type FlowStep, flowSteps, type JumpOptions } from "./options.js";
import type { JumpStep, JumpTrajectory } from "./trajectory.js";

/** Returns the inputs of the transition head at a position: its current token and the step's hazard. */
export function transitionFeatures(
  current: number,
  { hazard }: FlowStep,
): Record<"current" | "hazard" | "last", number> {
  const last = hazard === Number.POSITIVE_INFINITY;
  // the last step's head ignores the hazard, which still must be a finite number
  return { current, hazard: last ? 1 : hazard, last: last ? 1 : 0 };
}

/**
 * Lays out the transitions of rollouts as terms: each step in a sequence of its own, each position of the canvas a
 * term. Positions after an end have terms too: they were drawn, and the tokens before saw them on the way.
 * @throws UserError where temperatures differ, or a trajectory does not fit.
 */
export function transitionTerms(
  trajectories: readonly JumpTrajectory[],
  options: JumpOptions,
  layout: StepLayout,
): Batch {
  const { promptLength, responseLength, model } = options;
  const buffers = trajectories.flatMap((trajectory, index): StepBuffer[] => {
    const { source, steps, exponent } = trajectory;
    const start = flowStart(trajectory.prompt, trajectory.template);
    const flow = flowSteps({ steps: steps.length, exponent });
    return (layout.subset?.[index] ?? steps.map((_, k) => k)).map((k) => {
      const { tokens, logProbs } = stepAt(steps, k);
      const at = flow[k] as FlowStep;
      const before = k === 0 ? source : (steps[k - 1] as JumpStep).tokens;
      const terms = tokens.map((target, position) => ({
        row: start + position,
        target,
        position,
        logProb: logProbs[position] as number,
        features: transitionFeatures(before[position] as number, at),
      }));
      return {
        buffer: flowBuffer(trajectory.prompt, before, trajectory.template),
        conditions: { time: at.time, step: at.step },
        trajectory: index,
        steps: [{ step: k, terms }],
      };
    });
  });
  // a subset takes only as many sequences as it needs
  const steps = layout.subset === undefined ? options.steps : Math.max(1, ...layout.subset.map((of) => of.length));
  return stepTerms(
    buffers,
    {
      steps,
      sequences: steps,
      length: promptLength + responseLength,
      whole: trajectories.map((t) => ({ steps: t.steps.length, terms: t.steps.length * t.responseLength })),
    },
    layout,
    {
      temperature: commonTemperature(trajectories.map((t) => t.temperature)),
      head: transitionHead,
      pad: model.tokens.pad,
      filler: model.tokens.eos,
    },
  );
}

function stepAt(steps: readonly JumpStep[], k: number): JumpStep {
  const step = steps[k];
  if (step === undefined) fail(`Step ${k} of a trajectory of ${steps.length} steps`);
  return step;
}
