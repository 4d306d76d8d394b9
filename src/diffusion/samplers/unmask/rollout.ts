import { UserError } from "../../../core/errors.js";
import type { Rng } from "../../../core/rng.js";
import { checkStreams, inBatches } from "../../batches.js";
import { RoundReader, type RowRequest } from "../../round-reader.js";
import { type RoundModel, rowNoise, scoringTemperature } from "../../sampler.js";
import { canvasOf, layCanvas, layRevealed, pushSlots, type SlotSight } from "./canvas.js";
import { type UnmaskOptions, unmaskShapes } from "./options.js";
import { type RowStatistics, roundHead } from "./round.js";
import { eosAllowedSlots, revealSchedule, selectSlots } from "./slots.js";
import type { TrajectoryRound, UnmaskTrajectory } from "./trajectory.js";

/** One rollout in progress. */
interface State {
  readonly prompt: readonly number[];
  readonly rng: Rng;
  /** One flag a slot. */
  readonly open: boolean[];
  /** Response position -> token, in commit order. */
  readonly committed: Map<number, number>;
  readonly rounds: TrajectoryRound[];
  /** Slots that each round reveals. */
  readonly schedule: readonly number[];
  ended: boolean;
}

/** One round of a rollout: what was chosen before sampling, and what has been sampled. */
interface Filling {
  /** [L] noise of the round, by position. */
  readonly uniform: Float32Array;
  /** One flag a slot. */
  readonly selected: readonly boolean[];
  readonly eosAllowed: readonly boolean[];
  /** By response position. */
  readonly drawn: Map<number, Drawn>;
  /** Most probable token of every open position, where drafts are recorded. */
  readonly draft: ReadonlyMap<number, number> | undefined;
}

interface Drawn {
  readonly token: number;
  readonly logProb: number;
}

/** Draws responses as the sampler's policy does. */
export async function rollout(
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
  const { slotSize, slotFill, model: sampled, kvCache } = options;
  const reader = await RoundReader.open(model, {
    roundHead,
    batch,
    shapes: unmaskShapes(options),
    pad: sampled.tokens.pad,
    temperature: scoringTemperature(options.temperature),
    kvCache,
  });
  try {
    for (let t = 0; states.some((state) => isOpen(state, t)); t++) {
      const requests = states.map((state) => (isOpen(state, t) ? maskRequest(state, t, options) : undefined));
      const { round, places } = await reader.ask(requests);
      const fillings = states.map((state, b) =>
        isOpen(state, t)
          ? beginRound(state, round, places[b] as readonly number[], state.schedule[t] as number, requests[b], options)
          : undefined,
      );
      for (let i = 1; slotFill === "autoregressive" && i < slotSize; i++) {
        const nexts = states.map((state, b) => nextTokens(state, fillings[b], i, options));
        if (nexts.every((next) => next === undefined)) break;
        const replies = await reader.ask(nexts.map((next) => next?.request));
        nexts.forEach((next, b) => {
          next?.positions.forEach((position, r) => {
            draw(fillings[b] as Filling, position, replies.round, replies.places[b]?.[r] as number, options);
          });
        });
      }
      states.forEach((state, b) => {
        const filling = fillings[b];
        if (filling !== undefined) reveal(state, filling, options);
      });
    }
  } finally {
    reader.close();
  }
  return states.map((state) => toTrajectory(state, options));
}

function begin(prompt: readonly number[], rng: Rng, options: UnmaskOptions): State {
  const slots = canvasOf(prompt, options) / options.slotSize;
  const open = Array.from({ length: slots }, () => true);
  const schedule = revealSchedule(slots, options.rounds);
  return { prompt, rng, open, schedule, committed: new Map(), rounds: [], ended: false };
}

function isOpen(state: State, round: number): boolean {
  return !state.ended && round < state.schedule.length;
}

/**
 * The rollout's buffer, prompt + canvas entries long, and its masks in the order of their positions. A causal model that
 * reveals slots from left to right reads no masks behind those of the round: nothing sees them or asks for them.
 */
function maskRequest(state: State, round: number, options: UnmaskOptions): RowRequest {
  const { slotSize, order, model } = options;
  const inOrder = order === "left-to-right" && model.attention === "causal";
  const slots = inOrder ? state.open.indexOf(true) + (state.schedule[round] as number) : state.open.length;
  const sight = sightOf(state, options);
  const { buffer, indexOf } = layCanvas(state.prompt, state.committed, slots * slotSize, model, sight);
  const rows = Array.from(indexOf, (n, position) => (state.committed.has(position) ? -1 : n));
  // drawn for all positions: the noise depends on the rollout and the round only
  return {
    buffer,
    rows,
    uniform: Float32Array.from({ length: state.open.length * slotSize }, () => rowNoise(state.rng)),
  };
}

function sightOf(state: State, { slotFill, slotSize }: UnmaskOptions): SlotSight | undefined {
  if (slotFill === "parallel") return undefined;
  return { slotSize, rounds: state.rounds.map(({ positions }) => positions.length) };
}

/** Chooses a round's slots and draws what their masks say. @param places [L] where an open position's row is. */
function beginRound(
  state: State,
  statistics: RowStatistics,
  places: readonly number[],
  budget: number,
  request: RowRequest | undefined,
  options: UnmaskOptions,
): Filling {
  const { slotSize, slotFill } = options;
  const wantsEos = state.open.map(
    (isOpen, slot) => isOpen && someIn(slot, slotSize, (i) => statistics.eosIsArgmax[places[i] as number] === 1),
  );
  const selected = selectSlots(slotScores(state, statistics, places, options), wantsEos, state.open, budget);
  const filling: Filling = {
    uniform: request?.uniform as Float32Array,
    selected,
    eosAllowed: eosAllowedSlots(state.open, selected),
    drawn: new Map(),
    draft: options.recordDrafts === true ? draftOf(statistics, places) : undefined,
  };
  places.forEach((at, position) => {
    const fromMask = slotFill === "parallel" || position % slotSize === 0;
    if (selected[Math.floor(position / slotSize)] && fromMask) draw(filling, position, statistics, at, options);
  });
  return filling;
}

/** What the network would write at each open position, each by itself. */
function draftOf({ argmax }: RowStatistics, places: readonly number[]): Map<number, number> {
  return new Map(places.flatMap((at, position) => (at < 0 ? [] : [[position, Number(argmax[at * 2])]])));
}

/**
 * What the next token of every chosen slot is predicted from: the i-th tokens of those that have not ended.
 * @returns undefined where there is none.
 */
function nextTokens(
  state: State,
  filling: Filling | undefined,
  i: number,
  options: UnmaskOptions,
): { positions: number[]; request: RowRequest } | undefined {
  if (filling === undefined) return undefined;
  const { slotSize, model } = options;
  const drawn: [position: number, token: number][] = [];
  for (const [slot, taken] of filling.selected.entries()) {
    const own = taken ? tokensOf(filling, slot, slotSize) : [];
    const ended = own.at(-1)?.[1] === model.tokens.eos;
    // what lies behind EOS is not kept
    if (ended) break;
    drawn.push(...own);
  }
  if (drawn.length === 0) return undefined;
  const buffer = layRevealed(state.prompt, state.committed, sightOf(state, options));
  const rowOf = pushSlots(buffer, drawn, slotSize);
  const positions = drawn.map(([position]) => position + 1).filter((position) => position % slotSize === i);
  const request = {
    buffer,
    rows: positions.map((position) => rowOf.get(position - 1) as number),
    uniform: Float32Array.from(positions, (position) => filling.uniform[position] as number),
  };
  return { positions, request };
}

function tokensOf({ drawn }: Filling, slot: number, slotSize: number): [position: number, token: number][] {
  return Array.from({ length: slotSize }, (_, i) => slot * slotSize + i).flatMap((position) => {
    const token = drawn.get(position)?.token;
    return token === undefined ? [] : [[position, token]];
  });
}

/** Takes a position's token from the row that predicts it. */
function draw(
  filling: Filling,
  position: number,
  statistics: RowStatistics,
  at: number,
  { temperature, slotSize }: UnmaskOptions,
): void {
  const eosAllowed = filling.eosAllowed[Math.floor(position / slotSize)] as boolean;
  const [ids, logs] =
    temperature === 0 ? [statistics.argmax, statistics.argmaxLogProb] : [statistics.token, statistics.logProb];
  const cell = at * 2 + (eosAllowed ? 0 : 1);
  filling.drawn.set(position, { token: Number(ids[cell]), logProb: logs[cell] as number });
}

/** Applies one round to a rollout. */
function reveal(state: State, { selected, eosAllowed, drawn, draft }: Filling, options: UnmaskOptions): void {
  const { slotSize } = options;
  const { tokens } = options.model;
  const round = {
    positions: [] as number[],
    tokens: [] as number[],
    logProbs: [] as number[],
    eosAllowed: [] as boolean[],
  };
  for (let position = 0; position < state.open.length * slotSize && !state.ended; position++) {
    const slot = Math.floor(position / slotSize);
    const one = drawn.get(position);
    if (!selected[slot] || one === undefined) continue;
    const { token, logProb } = one;
    const allowed = eosAllowed[slot] as boolean;
    // some models pad with EOS
    if (token === tokens.mask || (token === tokens.eos ? !allowed : token === tokens.pad)) {
      throw new Error(`the model sampled the blocked token ${token} at response position ${position}`);
    }
    if (!Number.isFinite(logProb)) throw notFinite(`log-probability of token ${token}`, position);
    round.positions.push(position);
    round.tokens.push(token);
    round.logProbs.push(logProb);
    round.eosAllowed.push(allowed);
    state.committed.set(position, token);
    state.ended = token === tokens.eos;
  }
  selected.forEach((taken, slot) => {
    if (taken) state.open[slot] = false;
  });
  const left = [...(draft ?? [])].filter(([position]) => !state.committed.has(position));
  state.rounds.push(draft === undefined ? round : { ...round, draft: left.map(([, token]) => token) });
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
  const { slotSize, slotFill, temperature } = options;
  const responseLength = state.open.length * slotSize;
  const fill = slotFill === "parallel" ? {} : { slotFill };
  // without EOS all L positions are committed; with it exactly those up to it
  const response = Array.from({ length: state.committed.size }, (_, i) => state.committed.get(i) as number);
  const ended = state.ended ? "eos" : "length";
  return {
    prompt: [...state.prompt],
    slotSize,
    ...fill,
    responseLength,
    temperature,
    rounds: state.rounds,
    response,
    ended,
  };
}
