import { batchBuffers, tokenInputs } from "../../../diffusion/layout/buffer.js";
import type { RoundModel } from "../../../diffusion/sampler.js";
import { scalar, vector } from "../../../onnx/tensors.js";
import { flowBuffer } from "../../fsdfm/jump/canvas.js";
import { type Drawn, transitionHead } from "../../fsdfm/jump/heads.js";
import { type FlowStep, flowSteps, type JumpOptions, ordinaryTokens } from "../../fsdfm/jump/options.js";
import { transitionFeatures } from "../../fsdfm/jump/replay.js";
import { figures, type Measurement, type Proof, takePrompts, type VerifyContext } from "../../verify/proof.js";
import { vocabularyLogProbs } from "../vocabulary.js";

const LIMIT = 1e-5;
/** Draws at one position with stratified noise: frequencies then equal probabilities up to about 1 / DRAWS. */
const DRAWS = 4096;

interface Place {
  readonly prompt: readonly number[];
  readonly canvas: readonly number[];
  readonly at: FlowStep;
}

/**
 * Verifies that a position's stay and jump probabilities add up to 1 over the vocabulary, in the middle of the flow and
 * in its last step, that the sampler draws with the frequencies that the score gives, and that the first position sees
 * the last one.
 * @param distort replaces the network that the sampler sees.
 */
export async function measureTransitions(
  context: VerifyContext,
  distort: (model: RoundModel<unknown>) => RoundModel<unknown> = (model) => model,
): Promise<Measurement[]> {
  const { policy } = context;
  const options = policy.options as JumpOptions;
  const [prompt] = takePrompts(context, 1) as [readonly number[]];
  const rng = context.rng("transitions");
  const ordinary = ordinaryTokens(options.model);
  const canvas = Array.from({ length: options.responseLength }, () => rng.pick(ordinary));
  const flow = flowSteps({ ...options, steps: Math.max(2, options.steps) });
  const measurements: Measurement[] = [];
  for (const [name, at] of [
    ["a step in the middle", flow[Math.floor((flow.length - 1) / 2)] as FlowStep],
    ["the last step", flow.at(-1) as FlowStep],
  ] as const) {
    const place = { prompt, canvas, at };
    const p = (await transitions(context, place)).map(Math.exp);
    const off = Math.abs(p.reduce((sum, x) => sum + x, 0) - 1);
    const seen = await frequencies(context, place, distort(policy.engine));
    const farthest = Math.max(...p.map((x, token) => Math.abs(x - (seen[token] as number))));
    const detail = `largest |frequency - probability| of ${DRAWS} stratified draws`;
    const other = [...canvas.slice(0, -1), ordinary.find((token) => token !== canvas.at(-1)) as number];
    const moved = await transitions(context, { ...place, canvas: other });
    const sees = moved.some((x, token) => Math.exp(x) !== p[token]);
    measurements.push(
      ...figures(0, []),
      ...figures(LIMIT, [[`${name}, all transitions`, off, `|sum - 1| over ${p.length} tokens`]]),
      ...figures(3 / DRAWS, [[`${name}, sampled frequencies`, farthest, detail]]),
      ...figures(0, [
        [`${name}, tokens unseen`, Number(!sees), "1 where the last token changes nothing for the first"],
      ]),
    );
  }
  return measurements;
}

/** Computes the log-probabilities [V] of the transitions of the canvas's first position. */
async function transitions({ policy }: VerifyContext, { prompt, canvas, at }: Place): Promise<Float64Array> {
  const { options } = policy;
  const ordinary = new Set(ordinaryTokens(options.model));
  const all = await vocabularyLogProbs(
    policy,
    {
      buffer: flowBuffer(prompt, canvas),
      conditions: { time: at.time, step: at.step },
      features: transitionFeatures(canvas[0] as number, at),
      length: options.promptLength + options.responseLength,
    },
    prompt.length,
    { temperature: options.temperature, head: transitionHead },
  );
  return all.map((x, token) => (ordinary.has(token) ? x : Number.NEGATIVE_INFINITY));
}

async function frequencies(
  { policy: { options, model } }: VerifyContext,
  { prompt, canvas, at }: Place,
  network: RoundModel<unknown>,
): Promise<Float64Array> {
  const buffers = batchBuffers([flowBuffer(prompt, canvas)], {
    batch: 1,
    length: options.promptLength + options.responseLength,
    pad: options.model.tokens.pad,
  });
  const { current, hazard, last } = transitionFeatures(canvas[0] as number, at);
  const { token } = (await network.forwardRound({
    inputs: {
      ...tokenInputs(buffers),
      time: vector(Float32Array.of(at.time)),
      step: vector(Float32Array.of(at.step)),
      rows: vector(new BigInt64Array(DRAWS).fill(BigInt(prompt.length))),
    },
    headInputs: {
      inverse_temperature: scalar(1 / options.temperature),
      uniform: vector(Float32Array.from({ length: DRAWS }, (_, i) => (i + 0.5) / DRAWS)),
      current: vector(new BigInt64Array(DRAWS).fill(BigInt(current))),
      hazard: vector(new Float32Array(DRAWS).fill(hazard)),
      last: vector(new Float32Array(DRAWS).fill(last)),
    },
  })) as Drawn;
  const seen = new Float64Array(model.config.vocab_size);
  for (const id of token) seen[Number(id)] = (seen[Number(id)] as number) + 1 / DRAWS;
  return seen;
}

export const proof: Proof = {
  claim: "stay and jump probabilities add up to 1 and are what is sampled",
  sampler: "jump",
  run: (context) => measureTransitions(context),
};
