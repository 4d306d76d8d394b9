import { z } from "zod";
import { closing } from "../../../core/closing.js";
import { misuse } from "../../../core/errors.js";
import type { Rng } from "../../../core/rng.js";
import { checkStreams, inBatches } from "../../../diffusion/batches.js";
import { drawAmong } from "../../../diffusion/constrained.js";
import { layText } from "../../../diffusion/layout/text.js";
import { RoundReader } from "../../../diffusion/round-reader.js";
import {
  cacheUse,
  overflowed,
  type RoundModel,
  rowNoise,
  type Sampler,
  scoringTemperature,
  temperatureOption,
} from "../../../diffusion/sampler.js";
import { candidateLogProbs, type RowStatistics, roundHead } from "../../../diffusion/samplers/unmask/round.js";
import { constrainedHead, modelHead, policyHead } from "../../../diffusion/score-head.js";
import {
  Canvas,
  constrainedOption,
  EXPLORES_OPTIONS,
  exploreOption,
  roomKeys,
  roomsOf,
  type TextStart,
  type TokenTemplate,
} from "../../../diffusion/template.js";
import { textPolicy } from "../../../diffusion/text-policy.js";
import type { SampledModel } from "../../../diffusion/tokens.js";
import { type AutoregressiveOptions, autoregressiveShapes, stepTerms, supervisedTerms, textTerms } from "../terms.js";
import { type AutoregressiveTrajectory, parseTrajectory, reveals } from "../trajectory.js";

/**
 * The plain causal language model as a policy: one token per forward pass, from left to right, until EOS. It is the
 * baseline for diffusion on the same weights: log pi is exactly the text's log-probability. In a template it generates
 * the values, each until EOS or until its room is full, and reads the given tokens between them.
 */
const schema = z
  .strictObject({
    response_length: z.number().int().min(1).default(96).describe("most tokens of a response"),
    prompt_length: z.number().int().min(1).default(64).describe("longest prompt in tokens"),
    temperature: temperatureOption,
    ...roomKeys,
    constrained_decoding: constrainedOption,
    explore: exploreOption,
    kv_cache: cacheUse,
  })
  .refine(EXPLORES_OPTIONS.check, EXPLORES_OPTIONS.refusal);

export type AutoregressiveConfig = z.output<typeof schema>;

function options(config: AutoregressiveConfig, model: SampledModel): AutoregressiveOptions {
  if (model.attention !== "causal") {
    misuse("sampler.kind=autoregressive reads next-token logits, which a bidirectional model has not.", {
      hint: "Use sampler.kind=unmask.",
    });
  }
  return {
    responseLength: config.response_length,
    promptLength: config.prompt_length,
    temperature: config.temperature,
    ...roomsOf(config),
    constrained: config.constrained_decoding,
    explore: config.explore,
    kvCache: config.kv_cache,
    model,
  };
}

/** One rollout in progress. */
interface State {
  readonly prompt: readonly number[];
  readonly template?: TokenTemplate | undefined;
  readonly rng: Rng;
  readonly response: number[];
  readonly logProbs: number[];
}

async function rollout(
  model: RoundModel<RowStatistics>,
  starts: readonly TextStart[],
  options: AutoregressiveOptions,
  rngs: readonly Rng[],
  batchSize = starts.length,
): Promise<AutoregressiveTrajectory[]> {
  checkStreams(starts, rngs);
  return inBatches(
    starts,
    options,
    batchSize,
    (prompt, i, template): State => ({ prompt, template, rng: rngs[i] as Rng, response: [], logProbs: [] }),
    (states) => writeTogether(model, states, options, batchSize),
  );
}

async function writeTogether(
  model: RoundModel<RowStatistics>,
  states: readonly State[],
  options: AutoregressiveOptions,
  batch: number,
): Promise<AutoregressiveTrajectory[]> {
  const { temperature, responseLength, kvCache, explore } = options;
  const { pad, eos } = options.model.tokens;
  const sizes = { batch, shapes: autoregressiveShapes(options), pad, temperature: scoringTemperature(temperature) };
  await using reader = closing(await RoundReader.open(model, { roundHead, kvCache, ...sizes }));
  const isOpen = ({ template, response }: State): boolean =>
    response.length < responseLength && Canvas.of(template).next(response, eos) !== undefined;
  while (states.some(isOpen)) {
    const requests = states.map((state) => {
      if (!isOpen(state)) return undefined;
      const { buffer } = layText(state, eos);
      const noise = rowNoise(state.rng);
      const allowed = allowedNext(state, eos);
      return { buffer, rows: [buffer.length - 1], uniform: Float32Array.of(noise), candidates: [allowed], noise };
    });
    const { round, places } = await reader.ask(requests);
    states.forEach((state, b) => {
      const { noise, candidates: [allowed] = [] } = requests[b] ?? {};
      if (noise !== undefined)
        append(state, round, places[b]?.[0] as number, allowed, temperature === 0 ? undefined : noise, explore);
    });
  }
  return states.map(({ prompt, template, response, logProbs }) => {
    const { cells, blanks } = Canvas.of(template);
    return {
      prompt: [...prompt],
      ...(template === undefined ? {} : { template }),
      responseLength: Math.min(cells, responseLength),
      temperature,
      response,
      logProbs,
      ended: response.filter((token) => token === eos).length === blanks.length ? "eos" : "length",
    };
  });
}

/** Lists the allowed next tokens in a blank with options; undefined: all are allowed. */
function allowedNext({ template, response }: State, eos: number): number[] | undefined {
  const canvas = Canvas.of(template);
  if (!canvas.isConstrained) return undefined;
  const tokens = canvas.cellsOf(response, eos).map((cell, i) => [cell, response[i] as number] as const);
  return canvas.allowed(canvas.next(response, eos) as number, new Map(tokens), eos);
}

/** Appends a token. @param at row that predicts it. @param noise for drawing it; undefined: greedy choice. */
function append(
  state: State,
  statistics: RowStatistics,
  at: number,
  allowed: readonly number[] | undefined,
  noise: number | undefined,
  explore: number | undefined,
): void {
  const greedy = noise === undefined;
  const [ids, logs] = greedy ? [statistics.argmax, statistics.argmaxLogProb] : [statistics.token, statistics.logProb];
  const chosen = allowed && drawAmong(candidateLogProbs(statistics, at, allowed, allowed), noise, explore);
  const token = chosen === undefined ? Number(ids[at * 2]) : (allowed?.[chosen.index] as number);
  const logProb = chosen?.logProb ?? (logs[at * 2] as number);
  if (!Number.isFinite(logProb)) overflowed("log-probability", state.response.length);
  state.response.push(token);
  state.logProbs.push(logProb);
}

export const sampler: Sampler<
  AutoregressiveConfig,
  AutoregressiveOptions,
  AutoregressiveTrajectory,
  RowStatistics,
  TextStart
> = {
  schema,
  policy: textPolicy,
  conditions: [],
  roundHead,
  scoreHeads: [policyHead, constrainedHead, modelHead],
  options,
  shapes: autoregressiveShapes,
  shrink: (options, positions, steps) => ({ ...options, responseLength: Math.min(positions, steps) }),
  caches: ({ kvCache }) => kvCache,
  rollout,
  parse: (data, where, { tokens }) => parseTrajectory(data, where, tokens.eos),
  steps: ({ response }) => response.length,
  size: ({ prompt, template, response }) => prompt.length + Canvas.of(template).given.length + response.length,
  reveals,
  stepTerms,
  textTerms,
  supervisedTerms,
};
