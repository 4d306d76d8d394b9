import { z } from "zod";
import { UserError } from "../../core/errors.js";
import type { Rng } from "../../core/rng.js";
import { checkStreams, inBatches } from "../batches.js";
import { BufferBuilder } from "../buffer.js";
import { cacheUse } from "../prefix-cache.js";
import { RoundReader } from "../round-reader.js";
import { type RoundModel, rowNoise, type Sampler, scoringTemperature, temperatureOption } from "../sampler.js";
import { modelHead, policyHead } from "../score-head.js";
import { textPolicy } from "../text-policy.js";
import type { SampledModel } from "../tokens.js";
import { type AutoregressiveOptions, autoregressiveShapes } from "./autoregressive/options.js";
import { stepTerms, supervisedTerms, textTerms } from "./autoregressive/terms.js";
import { type AutoregressiveTrajectory, parseTrajectory, reveals } from "./autoregressive/trajectory.js";
import { type RowStatistics, roundHead } from "./unmask/round.js";

/**
 * The plain causal language model as a policy: a token a forward, from left to right, until EOS. It is what diffusion
 * is compared with, on the same weights: log pi is the text's own log-probability, exactly.
 */
const schema = z.strictObject({
  response_length: z.number().int().min(1).default(64).describe("most tokens of a response"),
  prompt_length: z.number().int().min(1).default(64).describe("longest prompt in tokens"),
  temperature: temperatureOption,
  kv_cache: cacheUse,
});

export type AutoregressiveConfig = z.output<typeof schema>;

function options(config: AutoregressiveConfig, model: SampledModel): AutoregressiveOptions {
  if (model.attention !== "causal") {
    throw new UserError("sampler.kind=autoregressive reads next-token logits, which a bidirectional model has not.", {
      hint: "Use sampler.kind=unmask.",
      exitCode: 2,
    });
  }
  return {
    responseLength: config.response_length,
    promptLength: config.prompt_length,
    temperature: config.temperature,
    kvCache: config.kv_cache,
    model,
  };
}

/** One rollout in progress. */
interface State {
  readonly prompt: readonly number[];
  readonly rng: Rng;
  readonly response: number[];
  readonly logProbs: number[];
  ended: boolean;
}

async function rollout(
  model: RoundModel<RowStatistics>,
  prompts: readonly (readonly number[])[],
  options: AutoregressiveOptions,
  rngs: readonly Rng[],
  batchSize = prompts.length,
): Promise<AutoregressiveTrajectory[]> {
  checkStreams(prompts, rngs);
  return inBatches(
    prompts,
    options.promptLength,
    batchSize,
    (prompt, i): State => ({ prompt, rng: rngs[i] as Rng, response: [], logProbs: [], ended: false }),
    (states) => writeTogether(model, states, options, batchSize),
  );
}

async function writeTogether(
  model: RoundModel<RowStatistics>,
  states: readonly State[],
  options: AutoregressiveOptions,
  batch: number,
): Promise<AutoregressiveTrajectory[]> {
  const { temperature, responseLength, kvCache, model: sampled } = options;
  const reader = await RoundReader.open(model, {
    roundHead,
    batch,
    shapes: autoregressiveShapes(options),
    pad: sampled.tokens.pad,
    temperature: scoringTemperature(temperature),
    kvCache,
  });
  try {
    for (let i = 0; i < responseLength && states.some(({ ended }) => !ended); i++) {
      const { round, places } = await reader.ask(
        states.map((state) => {
          if (state.ended) return undefined;
          const buffer = new BufferBuilder(state.prompt);
          state.response.forEach((token, position) => void buffer.push(token, position));
          return { buffer, rows: [buffer.length - 1], uniform: Float32Array.of(rowNoise(state.rng)) };
        }),
      );
      states.forEach((state, b) => {
        if (!state.ended) append(state, round, places[b]?.[0] as number, options);
      });
    }
  } finally {
    reader.close();
  }
  return states.map(({ prompt, response, logProbs, ended }) => ({
    prompt: [...prompt],
    responseLength,
    temperature,
    response,
    logProbs,
    ended: ended ? "eos" : "length",
  }));
}

/** @param at the row that predicts the next token. */
function append(state: State, statistics: RowStatistics, at: number, options: AutoregressiveOptions): void {
  const [ids, logs] =
    options.temperature === 0 ? [statistics.argmax, statistics.argmaxLogProb] : [statistics.token, statistics.logProb];
  const token = Number(ids[at * 2]);
  const logProb = logs[at * 2] as number;
  if (!Number.isFinite(logProb)) {
    throw new UserError(`The model gave a non-finite log-probability at response position ${state.response.length}`, {
      hint: "Its weights or activations overflowed: go back to an earlier checkpoint, or lower the learning rate.",
    });
  }
  state.response.push(token);
  state.logProbs.push(logProb);
  state.ended = token === options.model.tokens.eos;
}

export const sampler: Sampler<
  AutoregressiveConfig,
  AutoregressiveOptions,
  AutoregressiveTrajectory,
  RowStatistics,
  readonly number[]
> = {
  schema,
  policy: textPolicy,
  conditions: [],
  roundHead,
  scoreHeads: [policyHead, modelHead],
  options,
  shapes: autoregressiveShapes,
  shrink: (options, positions, steps) => ({ ...options, responseLength: Math.min(positions, steps) }),
  caches: ({ kvCache }) => kvCache,
  rollout,
  parse: (data, where, { tokens }) => parseTrajectory(data, where, tokens.eos),
  steps: ({ response }) => response.length,
  size: ({ prompt, response }) => prompt.length + response.length,
  reveals,
  stepTerms,
  textTerms,
  supervisedTerms,
};
