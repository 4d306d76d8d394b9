import { fail } from "../../../core/errors.js";
import type { Batch } from "../../batch.js";
import type { StepLayout } from "../../layouts.js";
import { commonTemperature, type StepBuffer, stepTerms } from "../../terms.js";
import { flowBuffer, flowStart } from "./canvas.js";
import { transitionHead } from "./heads.js";
import { type FlowStep, flowSteps, type JumpOptions } from "./options.js";
import type { JumpStep, JumpTrajectory } from "./trajectory.js";

/** Inputs of the transition head at a position: where it stands, how far the step goes. */
export function transitionFeatures(
  current: number,
  { hazard }: FlowStep,
): Record<"current" | "hazard" | "last", number> {
  const last = hazard === Number.POSITIVE_INFINITY;
  // the last step's head does not read the hazard, which must yet be a number that nothing overflows on
  return { current, hazard: last ? 1 : hazard, last: last ? 1 : 0 };
}

/**
 * The transitions of rollouts as terms: every step in a sequence of its own, every position of the canvas a term, those
 * behind an end too: they were drawn, and the tokens before it saw them on the way.
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
  // a subset takes no more room than it needs
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
