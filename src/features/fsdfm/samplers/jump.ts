import { z } from "zod";
import { layBuffers } from "../../../attention/rows.js";
import { misuse } from "../../../core/errors.js";
import type { Rng } from "../../../core/rng.js";
import { checkStreams, inBatches } from "../../../diffusion/batches.js";
import {
  MIN_TEMPERATURE,
  overflowed,
  type RoundModel,
  rowNoise,
  type Sampler,
  type SamplerShapes,
} from "../../../diffusion/sampler.js";
import { afterEosFraction } from "../../../diffusion/scored-tokens.js";
import { Canvas, roomKeys, roomsOf, type TextStart, type TokenTemplate } from "../../../diffusion/template.js";
import { textPolicy } from "../../../diffusion/text-policy.js";
import type { SampledModel } from "../../../diffusion/tokens.js";
import { type NamedTensors, scalar, vector } from "../../../onnx/tensors.js";
import { flowBoundTerms } from "../jump/bound.js";
import { flowBuffer, flowStart } from "../jump/canvas.js";
import { type Drawn, generalisedKlHead, jumpRoundHead, transitionHead } from "../jump/heads.js";
import { type FlowStep, flowSteps, type JumpOptions, ordinaryTokens } from "../jump/options.js";
import { transitionFeatures, transitionTerms } from "../jump/replay.js";
import { supervisedFlowTerms } from "../jump/supervised.js";
import {
  type JumpStep,
  type JumpTrajectory,
  jumpReveals,
  parseJumpTrajectory,
  responseOf,
} from "../jump/trajectory.js";

/**
 * Discrete flow matching as a stochastic policy with an exact likelihood (FS-DFM, arXiv 2509.20624).
 *
 * A canvas of L tokens begins as uniform noise. In each of a few steps every position stays or jumps, independently
 * given the canvas (jump/heads.ts has the probabilities); the last step draws every position from the model's
 * prediction of x_1. The prompt and a template's given tokens are frozen and have no terms; each blank is read up to
 * its first EOS. log pi = the sum of the drawn transitions over steps and positions, so its gradient has zero mean
 * under a constant reward. The noise x_0 does not depend on the policy and is not scored.
 */
const schema = z.strictObject({
  steps: z.number().int().min(1).max(10_000).default(8).describe("steps from noise to text"),
  response_length: z.number().int().min(1).default(96).describe("canvas in tokens"),
  prompt_length: z.number().int().min(1).default(64).describe("longest prompt in tokens"),
  temperature: z.number().min(MIN_TEMPERATURE).default(1).describe("softmax temperature of sampling and scoring"),
  ...roomKeys,
  constrained_decoding: z
    .literal(false, "sampler.kind=jump cannot: it draws all tokens of a step at once and may change each again")
    .default(false)
    .describe("not of this sampler: tokens that are drawn side by side cannot be held to one option"),
  scheduler_exponent: z
    .number()
    .min(0.01)
    .max(100)
    .default(1)
    .describe("n of kappa(t) = t^n: which share of the tokens is text at time t"),
});

export type JumpConfig = z.output<typeof schema>;

function options(config: JumpConfig, model: SampledModel): JumpOptions {
  if (model.attention !== "bidirectional") {
    misuse("sampler.kind=jump needs a bidirectional model: every token may still change.", {
      hint: "Use sampler.kind=unmask for a causal one.",
    });
  }
  return {
    steps: config.steps,
    responseLength: config.response_length,
    promptLength: config.prompt_length,
    temperature: config.temperature,
    exponent: config.scheduler_exponent,
    ...roomsOf(config),
    model,
  };
}

const shapes = ({ promptLength, responseLength, steps }: JumpOptions): SamplerShapes => ({
  dims: (batch) => ({ B: batch, N: promptLength + responseLength }),
  rows: responseLength,
  steps,
});

/** One rollout in progress. */
interface State {
  readonly prompt: readonly number[];
  readonly template: TokenTemplate | undefined;
  readonly rng: Rng;
  readonly source: readonly number[];
  readonly steps: JumpStep[];
}

const canvasOf = ({ source, steps }: State): readonly number[] => steps.at(-1)?.tokens ?? source;

async function rollout(
  model: RoundModel<Drawn>,
  starts: readonly TextStart[],
  options: JumpOptions,
  rngs: readonly Rng[],
  batchSize = starts.length,
): Promise<JumpTrajectory[]> {
  checkStreams(starts, rngs);
  if (options.temperature <= 0) {
    misuse("The sampler jump has no greedy decoding: its steps are random where the model is sure, too.", {
      hint: "Set the temperature to a small number, as 0.1.",
    });
  }
  const ordinary = ordinaryTokens(options.model);
  const begin = (prompt: readonly number[], i: number, template?: TokenTemplate): State => {
    const rng = rngs[i] as Rng;
    const length = Math.min(options.responseLength, Canvas.of(template).cells);
    return { prompt, template, rng, source: Array.from({ length }, () => rng.pick(ordinary)), steps: [] };
  };
  return inBatches(starts, options, batchSize, begin, async (states) => {
    await run(model, states, options, batchSize);
    return states.map((state) => toTrajectory(state, options));
  });
}

/** Runs all steps of a chunk of rollouts. */
async function run(
  model: RoundModel<Drawn>,
  states: readonly State[],
  options: JumpOptions,
  batch: number,
): Promise<void> {
  const canvas = options.responseLength;
  const size = { batch, length: options.promptLength + canvas, pad: options.model.tokens.pad };
  for (const at of flowSteps(options)) {
    const laidOut = layBuffers(
      states.map((state) => flowBuffer(state.prompt, canvasOf(state), state.template)),
      size,
    );
    const rows = new BigInt64Array(batch * canvas);
    const uniform = new Float32Array(batch * canvas);
    const features = {
      current: new BigInt64Array(batch * canvas),
      hazard: new Float32Array(batch * canvas).fill(1),
      last: new Float32Array(batch * canvas),
    };
    states.forEach((state, b) => {
      const start = flowStart(state.prompt, state.template);
      for (const [i, token] of canvasOf(state).entries()) {
        const row = b * canvas + i;
        const { current, hazard, last } = transitionFeatures(token, at);
        rows[row] = BigInt(laidOut.row(b, start + i));
        uniform[row] = rowNoise(state.rng);
        features.current[row] = BigInt(current);
        features.hazard[row] = hazard;
        features.last[row] = last;
      }
    });
    const drawn = await model.forwardRound({
      inputs: { ...laidOut.inputs, ...conditionsOf(at, batch), rows: vector(rows) },
      headInputs: {
        inverse_temperature: scalar(1 / options.temperature),
        uniform: vector(uniform),
        current: vector(features.current),
        hazard: vector(features.hazard),
        last: vector(features.last),
      },
    });
    states.forEach((state, b) => {
      state.steps.push(readStep(drawn, b * canvas, state.source.length));
    });
  }
}

const conditionsOf = ({ time, step }: FlowStep, batch: number): NamedTensors => ({
  time: vector(new Float32Array(batch).fill(time)),
  step: vector(new Float32Array(batch).fill(step)),
});

function readStep({ token, logProb }: Drawn, base: number, canvas: number): JumpStep {
  const tokens = Array.from(token.subarray(base, base + canvas), Number);
  const logProbs = Array.from(logProb.subarray(base, base + canvas));
  const bad = logProbs.findIndex((x) => !Number.isFinite(x));
  if (bad >= 0) overflowed(`log-probability of token ${tokens[bad]}`, bad);
  return { tokens, logProbs };
}

function toTrajectory(state: State, { temperature, exponent, model }: JumpOptions): JumpTrajectory {
  const { prompt, template, source, steps } = state;
  return {
    prompt: [...prompt],
    ...(template === undefined ? {} : { template }),
    responseLength: source.length,
    temperature,
    exponent,
    source,
    steps,
    ...responseOf(canvasOf(state), model.tokens.eos, template),
  };
}

export const sampler: Sampler<JumpConfig, JumpOptions, JumpTrajectory, Drawn, TextStart> = {
  schema,
  policy: textPolicy,
  conditions: ["time", "step"],
  roundHead: jumpRoundHead,
  scoreHeads: [transitionHead, generalisedKlHead],
  options,
  shapes,
  shrink: (o, positions, steps) => ({ ...o, responseLength: positions, steps: Math.min(o.steps, steps) }),
  rollout,
  refuses: (scoring) =>
    scoring === "masks" ? "its bound has terms that are no log-probabilities of masked tokens" : undefined,
  parse: parseJumpTrajectory,
  steps: (trajectory) => trajectory.steps.length,
  size: (trajectory) => flowStart(trajectory.prompt, trajectory.template) + trajectory.responseLength,
  reveals: jumpReveals,
  stepTerms: transitionTerms,
  boundTerms: flowBoundTerms,
  supervisedTerms: supervisedFlowTerms,
  // every position is drawn in every step, so that scores of steps include the positions after EOS too
  watch: (batches, scoring, { model }) => ({
    after_eos_fraction: scoring === "steps" ? null : afterEosFraction(batches, scoring, model.tokens.eos),
  }),
};
