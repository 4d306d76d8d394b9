import { z } from "zod";
import { UserError } from "../../core/errors.js";
import type { Rng } from "../../core/rng.js";
import { checkStreams, inBatches } from "../batches.js";
import type { Scoring } from "../layouts.js";
import { cacheUse } from "../prefix-cache.js";
import { RoundReader, type RowRequest } from "../round-reader.js";
import { MIN_TEMPERATURE, type RoundModel, rowNoise, type Sampler, scoringTemperature } from "../sampler.js";
import { modelHead, policyHead } from "../score-head.js";
import { afterEosFraction } from "../scored-tokens.js";
import { textPolicy } from "../text-policy.js";
import type { SampledModel } from "../tokens.js";
import { layCanvas } from "./unmask/canvas.js";
import { corruptBatch } from "./unmask/corrupt.js";
import { boundTerms } from "./unmask/elbo.js";
import { type UnmaskOptions, unmaskShapes } from "./unmask/options.js";
import { packedLength, roundTerms } from "./unmask/replay.js";
import { type RowStatistics, roundHead } from "./unmask/round.js";
import { eosAllowedSlots, revealSchedule, selectSlots } from "./unmask/slots.js";
import { textTerms } from "./unmask/text.js";
import { parseTrajectory, reveals, type TrajectoryRound, type UnmaskTrajectory } from "./unmask/trajectory.js";

/**
 * Slot-wise unmasking as a stochastic policy with an exact likelihood.
 *
 * A canvas of L masks is revealed in T rounds of whole slots. Buffer = prompt | committed tokens in commit order | open
 * masks by position, causal, with original positions (a bidirectional model reads the canvas in place). Each round ranks the open slots by the distribution BEFORE
 * sampling, takes the best, and samples all their tokens in parallel at temperature tau. EOS may be sampled only where
 * nothing stays open to its left and nothing is committed to its right; it ends the response, and what was sampled to
 * its right in that round is neither kept nor scored (it is independent given the context, so leaving it out is exact).
 * Hence log pi = the sum of the kept tokens' log-probabilities, and its gradient has zero mean under a constant reward.
 */
const schema = z
  .strictObject({
    rounds: z.number().int().min(1).default(8).describe("rounds of unmasking"),
    slot_size: z.number().int().min(1).default(4).describe("positions revealed together"),
    response_length: z.number().int().min(1).default(64).describe("canvas in tokens, a multiple of slot_size"),
    prompt_length: z.number().int().min(1).default(64).describe("longest prompt in tokens"),
    temperature: z
      .number()
      .refine((tau) => tau === 0 || tau >= MIN_TEMPERATURE, `expected 0 or at least ${MIN_TEMPERATURE}`)
      .default(1)
      .describe("softmax temperature of sampling and scoring; 0 is greedy"),
    order: z
      .enum(["confidence", "margin", "entropy", "random", "left-to-right"])
      .default("confidence")
      .describe("how slots are ranked"),
    slot_score: z
      .enum(["first", "mean"])
      .default("first")
      .describe("rank a slot by its first position or by the mean over its positions"),
    kv_cache: cacheUse,
  })
  .refine((config) => config.response_length % config.slot_size === 0, {
    path: ["response_length"],
    error: "must be a multiple of slot_size",
  });

export type UnmaskConfig = z.output<typeof schema>;

function options(config: UnmaskConfig, model: SampledModel): UnmaskOptions {
  return {
    rounds: config.rounds,
    slotSize: config.slot_size,
    responseLength: config.response_length,
    promptLength: config.prompt_length,
    temperature: config.temperature,
    order: config.order,
    slotScore: config.slot_score,
    kvCache: config.kv_cache,
    model,
  };
}

/** Whole slots; slots of the policy's own size where a canvas of two of them is small enough. */
function shrink(options: UnmaskOptions, positions: number, steps: number): UnmaskOptions {
  const slotSize = Math.max(1, Math.min(options.slotSize, Math.floor(positions / 2)));
  const slots = Math.max(1, Math.floor(positions / slotSize));
  return { ...options, slotSize, responseLength: slots * slotSize, rounds: Math.min(options.rounds, steps) };
}

function refuses(scoring: Scoring, { model }: UnmaskOptions): string | undefined {
  return scoring === "text" && model.attention !== "causal"
    ? "a bidirectional model gives no probabilities of a text read from left to right"
    : undefined;
}

/** One rollout in progress. */
interface State {
  readonly prompt: readonly number[];
  readonly rng: Rng;
  /** One flag a slot. */
  readonly open: boolean[];
  /** Response position -> token, in commit order. */
  readonly committed: Map<number, number>;
  readonly rounds: TrajectoryRound[];
  ended: boolean;
}

async function rollout(
  model: RoundModel<RowStatistics>,
  prompts: readonly (readonly number[])[],
  options: UnmaskOptions,
  rngs: readonly Rng[],
  batchSize = prompts.length,
): Promise<UnmaskTrajectory[]> {
  checkStreams(prompts, rngs);
  return inBatches(
    prompts,
    options.promptLength,
    batchSize,
    (prompt, i) => begin(prompt, rngs[i] as Rng, options),
    (states) => rolloutChunk(model, states, options, batchSize),
  );
}

async function rolloutChunk(
  model: RoundModel<RowStatistics>,
  states: readonly State[],
  options: UnmaskOptions,
  batch: number,
): Promise<UnmaskTrajectory[]> {
  const { responseLength, slotSize, model: sampled, kvCache } = options;
  const reader = await RoundReader.open(model, {
    roundHead,
    batch,
    shapes: unmaskShapes(options),
    pad: sampled.tokens.pad,
    temperature: scoringTemperature(options.temperature),
    kvCache,
  });
  try {
    for (const budget of revealSchedule(responseLength / slotSize, options.rounds)) {
      if (states.every((state) => state.ended)) break;
      const { round, places } = await reader.ask(
        states.map((state) => (state.ended ? undefined : requestOf(state, options))),
      );
      states.forEach((state, b) => {
        if (!state.ended) reveal(state, round, places[b] as readonly number[], budget, options);
      });
    }
  } finally {
    reader.close();
  }
  return states.map((state) => toTrajectory(state, options));
}

function begin(prompt: readonly number[], rng: Rng, options: UnmaskOptions): State {
  const open = Array.from({ length: options.responseLength / options.slotSize }, () => true);
  return { prompt, rng, open, committed: new Map(), rounds: [], ended: false };
}

/** The rollout's buffer, always prompt + L entries long, and its masks in the order of their positions. */
function requestOf(state: State, { responseLength, model }: UnmaskOptions): RowRequest {
  const { buffer, indexOf } = layCanvas(state.prompt, state.committed, responseLength, model);
  const rows = Array.from(indexOf, (n, position) => (state.committed.has(position) ? -1 : n));
  // drawn for committed positions too: the noise depends on the rollout and the round only
  return { buffer, rows, uniform: Float32Array.from(rows, () => rowNoise(state.rng)) };
}

/** Applies one round to a rollout. @param places [L] where in `statistics` an open position's row is. */
function reveal(
  state: State,
  statistics: RowStatistics,
  places: readonly number[],
  budget: number,
  options: UnmaskOptions,
): void {
  const { slotSize } = options;
  const { tokens } = options.model;
  const wantsEos = state.open.map(
    (isOpen, slot) => isOpen && someIn(slot, slotSize, (i) => statistics.eosIsArgmax[places[i] as number] === 1),
  );
  const selected = selectSlots(slotScores(state, statistics, places, options), wantsEos, state.open, budget);
  const allowed = eosAllowedSlots(state.open, selected);
  const round = {
    positions: [] as number[],
    tokens: [] as number[],
    logProbs: [] as number[],
    eosAllowed: [] as boolean[],
  };
  const [ids, logs] =
    options.temperature === 0 ? [statistics.argmax, statistics.argmaxLogProb] : [statistics.token, statistics.logProb];
  for (let position = 0; position < options.responseLength && !state.ended; position++) {
    const slot = Math.floor(position / slotSize);
    if (!selected[slot]) continue;
    const eosAllowed = allowed[slot] as boolean;
    const cell = (places[position] as number) * 2 + (eosAllowed ? 0 : 1);
    const token = Number(ids[cell]);
    const logProb = logs[cell] as number;
    if (token === tokens.mask || token === tokens.pad || (token === tokens.eos && !eosAllowed)) {
      throw new Error(`the model sampled the blocked token ${token} at response position ${position}`);
    }
    if (!Number.isFinite(logProb)) throw notFinite(`log-probability of token ${token}`, position);
    round.positions.push(position);
    round.tokens.push(token);
    round.logProbs.push(logProb);
    round.eosAllowed.push(eosAllowed);
    state.committed.set(position, token);
    state.ended = token === tokens.eos;
  }
  selected.forEach((taken, slot) => {
    if (taken) state.open[slot] = false;
  });
  state.rounds.push(round);
}

/** One score a slot (higher is better), from the distribution before sampling. Committed slots score 0. */
function slotScores(
  state: State,
  statistics: RowStatistics,
  places: readonly number[],
  options: UnmaskOptions,
): Float64Array {
  const { order, slotScore, slotSize } = options;
  const scores = new Float64Array(state.open.length);
  const width = slotScore === "first" ? 1 : slotSize;
  for (let slot = 0; slot < scores.length; slot++) {
    // drawn for every slot, open or not, after the round's L uniforms: always the same number of draws
    if (order === "random") scores[slot] = state.rng.uniform();
    else if (order === "left-to-right") scores[slot] = -slot;
    else if (state.open[slot]) {
      let sum = 0;
      for (let i = 0; i < width; i++) sum += rowScore(statistics, places[slot * slotSize + i] as number, order);
      if (!Number.isFinite(sum)) throw notFinite(order, slot * slotSize);
      scores[slot] = sum / width;
    }
  }
  return scores;
}

function rowScore(statistics: RowStatistics, row: number, order: "confidence" | "margin" | "entropy"): number {
  if (order === "entropy") return -(statistics.entropy[row] as number);
  const top = statistics.top[row] as number;
  return order === "confidence" ? top : top - (statistics.top2[row] as number);
}

function someIn(slot: number, slotSize: number, test: (position: number) => boolean): boolean {
  for (let i = 0; i < slotSize; i++) if (test(slot * slotSize + i)) return true;
  return false;
}

function notFinite(what: string, position: number): UserError {
  return new UserError(`The model gave a non-finite ${what} at response position ${position}`, {
    hint: "Its weights or activations overflowed: go back to an earlier checkpoint, or lower the learning rate.",
  });
}

function toTrajectory(state: State, options: UnmaskOptions): UnmaskTrajectory {
  const { slotSize, responseLength, temperature } = options;
  // without EOS all L positions are committed; with it exactly those up to it
  const response = Array.from({ length: state.committed.size }, (_, i) => state.committed.get(i) as number);
  const ended = state.ended ? "eos" : "length";
  return { prompt: [...state.prompt], slotSize, responseLength, temperature, rounds: state.rounds, response, ended };
}

export const sampler: Sampler<UnmaskConfig, UnmaskOptions, UnmaskTrajectory, RowStatistics> = {
  schema,
  policy: textPolicy,
  conditions: [],
  roundHead,
  scoreHeads: [policyHead, modelHead],
  options,
  shapes: unmaskShapes,
  shrink,
  refuses,
  caches: ({ kvCache }) => kvCache,
  rollout,
  parse: (data, where, { tokens }) => parseTrajectory(data, where, tokens.eos),
  steps: (trajectory) => trajectory.rounds.length,
  size: (trajectory) => packedLength(trajectory),
  reveals,
  stepTerms: roundTerms,
  boundTerms,
  textTerms,
  supervisedTerms: corruptBatch,
  watch: (batches, scoring, { model }) => ({
    after_eos_fraction: afterEosFraction(batches, scoring, model.tokens.eos),
  }),
};
