import type { SamplerOptions } from "../../../diffusion/sampler.js";
import type { SampledModel } from "../../../diffusion/tokens.js";

/** Options of the sampler `jump`. */
export interface JumpOptions extends SamplerOptions {
  /** Steps from noise to text. */
  readonly steps: number;
  /** n of the scheduler kappa(t) = t^n. */
  readonly exponent: number;
}

/** One step of the flow. */
export interface FlowStep {
  /** t: start of the step, an input of the model. */
  readonly time: number;
  /** h: size of the step. */
  readonly step: number;
  /** -log((1 - kappa(t+h)) / (1 - kappa(t))); Infinity for the last step. */
  readonly hazard: number;
}

/** Returns the steps of a rollout: a uniform grid of times, the last step ends at t = 1. */
export function flowSteps({ steps, exponent }: Pick<JumpOptions, "steps" | "exponent">): FlowStep[] {
  return Array.from({ length: steps }, (_, k) => {
    const left = (t: number): number => 1 - t ** exponent;
    const hazard = k === steps - 1 ? Number.POSITIVE_INFINITY : -Math.log(left((k + 1) / steps) / left(k / steps));
    return { time: k / steps, step: 1 / steps, hazard };
  });
}

/** Returns the tokens of text and noise: all but mask, pad and further EOS tokens; either of the first may be EOS. */
export function ordinaryTokens({ tokens, vocabulary }: SampledModel): number[] {
  const never = [tokens.mask, tokens.pad, ...(tokens.furtherEos ?? [])];
  return Array.from({ length: vocabulary }, (_, token) => token).filter(
    (token) => token === tokens.eos || !never.includes(token),
  );
}
