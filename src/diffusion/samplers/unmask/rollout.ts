import { misuse } from "../../../core/errors.js";
import type { Rng } from "../../../core/rng.js";
import { checkStreams, inBatches } from "../../batches.js";
import { drawAmong } from "../../constrained.js";
import { RoundReader, type RowRequest } from "../../round-reader.js";
import { overflowed, type RoundModel, scoringTemperature } from "../../sampler.js";
import { Canvas, type TextStart, type TokenTemplate } from "../../template.js";
import { canvasOf } from "./canvas.js";
import { isSerial, type SlotFacts, type SlotOrder, type UnmaskOptions, unmaskShapes } from "./options.js";
import { type Filling, maskRequest, nextOfBlanks, nextSlots, nextTokens, noiseOf, type State } from "./requests.js";
import { candidateLogProbs, type RowStatistics, roundHead } from "./round.js";
import { eosAllowedSlots, revealSchedule, selectSlots } from "./slots.js";
import type { UnmaskTrajectory } from "./trajectory.js";

/** Samples responses from the policy. */
export async function rollout(
  model: RoundModel<RowStatistics>,
  starts: readonly TextStart[],
  options: UnmaskOptions,
  rngs: readonly Rng[],
  batchSize = starts.length,
): Promise<UnmaskTrajectory[]> {
  checkStreams(starts, rngs);
  return inBatches(
    starts,
    options,
    batchSize,
    (prompt, i, template) => begin(prompt, template, rngs[i] as Rng, options),
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
  const isShifted = slotFill === "next-token";
  try {
    while (states.some(isOpen)) {
      const fillings = isShifted
        ? states.map((state) => beginShifted(state, options))
        : await fromMasks(reader, states, options);
      for (let i = 1; isShifted || (isSerial(slotFill) && i < slotSize); i++) {
        const nexts = states.map((state, b) =>
          isShifted ? nextOfBlanks(state, fillings[b], options) : nextTokens(state, fillings[b], i, options),
        );
        if (nexts.every((next) => next === undefined)) break;
        const replies = await reader.ask(nexts.map((next) => next?.request));
        nexts.forEach((next, b) => {
          const filling = fillings[b] as Filling;
          next?.positions.forEach((position, r) => {
            const output = { statistics: replies.round, at: replies.places[b]?.[r] as number, drawn: true };
            const candidates = next.request.candidates?.[r];
            const holds = isConfirmed(filling, next.laid?.get(position - 1), position - 1);
            if (holds) take(states[b] as State, filling, position, { ...output, candidates }, options);
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

function begin(
  prompt: readonly number[],
  template: TokenTemplate | undefined,
  rng: Rng,
  options: UnmaskOptions,
): State {
  const canvas = Canvas.of(template);
  const slots = (canvas.isFree ? canvasOf(prompt, options) : canvas.cells) / options.slotSize;
  const open = Array.from({ length: slots }, () => true);
  const blanks = open.map((_, slot) => canvas.blankOf(slot * options.slotSize));
  if (isSerial(options.slotFill) && options.slotFill !== "next-token") checkRounds(canvas, options);
  if (options.order === "blanks" && (options.rank ?? options.count) !== undefined)
    misuse("sampler.order=blanks takes the next slot of every blank: a rank or count of one's own has no effect.", {
      hint: "Set sampler.order=confidence.",
    });
  const schedule = revealSchedule(slots, options.rounds);
  return { prompt, template, canvas, rng, open, blanks, schedule, committed: new Map(), rounds: [] };
}

/** Checks the rounds. @throws UserError where the slots of one option would be drawn in the same round. */
function checkRounds({ blanks }: Canvas, { rounds, slotSize }: UnmaskOptions): void {
  const longest = Math.max(0, ...blanks.map(({ first, end, choices }) => (choices === undefined ? 0 : end - first)));
  if (longest > rounds * slotSize)
    misuse(`An option takes ${longest / slotSize} slots, and sampler.rounds=${rounds} writes some of them at once.`, {
      hint: `Set sampler.rounds=${longest / slotSize}, or sampler.constrained_decoding=false.`,
    });
}

const isOpen = ({ open }: State): boolean => open.includes(true);

/** Output of the network at a cell. */
interface CellOutput {
  readonly statistics: RowStatistics;
  /** Row of the cell. */
  readonly at: number;
  /** True where a token was drawn. */
  readonly drawn: boolean;
}

/** Orders that rank by the network's output. */
const RANKING: ReadonlySet<string> = new Set(["confidence", "margin", "entropy", "own"]);

const orderOf = ({ order, rank }: UnmaskOptions): SlotOrder | "own" => (rank === undefined ? order : "own");

/**
 * Reads the masks of a round, chooses its slots and draws their tokens. The head reads the first position of each slot,
 * which ranks it. Then it reads all positions of the best slots, until none of these wants EOS too early.
 */
async function fromMasks(
  reader: RoundReader<RowStatistics>,
  states: readonly State[],
  options: UnmaskOptions,
): Promise<(Filling | undefined)[]> {
  const { slotSize, slotFill, recordDrafts = false } = options;
  const order = orderOf(options);
  const masks = states.map((state) =>
    isOpen(state) ? { state, request: maskRequest(state, options), outputs: new Map<number, CellOutput>() } : undefined,
  );
  const requests = masks.map((mask) => mask?.request);
  let again = false;
  const read = async (drawn: boolean, isAsked: (b: number, cell: number) => boolean): Promise<void> => {
    const { round, places } = await reader.ask(requests, { isAsked, drawn, again });
    for (const [b, rows] of places.entries())
      for (const [cell, at] of rows.entries())
        if (at >= 0) masks[b]?.outputs.set(cell, { statistics: round, at, drawn });
    again = true;
  };
  const isFirst = (cell: number): boolean => cell % slotSize === 0;
  if (recordDrafts || RANKING.has(order))
    await read(["entropy", "own"].includes(order), (_, cell) => recordDrafts || isFirst(cell));
  const ranked = masks.map(
    (mask) =>
      mask && {
        ...mask,
        scores: slotScores(mask.state, mask.outputs, options),
        draft: recordDrafts ? draftOf(mask.outputs) : undefined,
      },
  );
  for (;;) {
    const chosen = ranked.map(
      (mask) =>
        mask && { ...mask, selected: order === "blanks" ? nextSlots(mask.state, options) : bestSlots(mask, options) },
    );
    const isAsked = (b: number, cell: number): boolean =>
      chosen[b]?.selected[Math.floor(cell / slotSize)] === true &&
      chosen[b]?.outputs.get(cell)?.drawn !== true &&
      (order !== "blanks" || slotFill === "parallel" || isFirst(cell));
    if (!requests.some((request, b) => request?.rows.some((n, cell) => n >= 0 && isAsked(b, cell))))
      return chosen.map((mask) => mask && fill(mask, options));
    await read(true, isAsked);
  }
}

/** By cell. */
type CellOutputs = ReadonlyMap<number, CellOutput>;

/** A rollout's masks in a round. */
interface Masks {
  readonly state: State;
  readonly request: RowRequest;
  readonly outputs: CellOutputs;
  /** One per slot. */
  readonly scores: Float64Array;
  readonly draft: Filling["draft"];
}

/** Takes the tokens drawn at a round's masks. */
function fill(
  { state, request, outputs, draft, selected }: Masks & { readonly selected: readonly boolean[] },
  options: UnmaskOptions,
): Filling {
  const { slotSize, slotFill } = options;
  const filling: Filling = {
    uniform: request.uniform as Float32Array,
    selected,
    eosAllowed: eosAllowedSlots(state.open, selected, (slot) => state.blanks[slot] as number),
    drawn: new Map(),
    draft,
  };
  for (const cell of request.rows.keys()) {
    const output = outputs.get(cell);
    const fromMask = slotFill === "parallel" || cell % slotSize === 0;
    if (output === undefined || !fromMask || !selected[Math.floor(cell / slotSize)]) continue;
    take(state, filling, cell, { ...output, candidates: request.candidates?.[cell] }, options);
  }
  return filling;
}

/** Tells whether a row read what was drawn before it: no guess, or one that this pass drew too. */
const isConfirmed = ({ drawn }: Filling, guess: number | undefined, cell: number): boolean =>
  guess === undefined || drawn.get(cell)?.token === guess;

/** Begins a round of `next-token`, whose slots are known before it. */
function beginShifted(state: State, options: UnmaskOptions): Filling | undefined {
  if (!isOpen(state)) return undefined;
  const selected = nextSlots(state, options);
  return {
    uniform: noiseOf(state, state.open.length * options.slotSize),
    selected,
    eosAllowed: selected,
    drawn: new Map(),
    draft: undefined,
  };
}

/** Returns the slots with the best scores within a round's budget; positions not yet read want no EOS. */
function bestSlots({ state, outputs, scores }: Masks, options: UnmaskOptions): boolean[] {
  const { open, blanks, canvas } = state;
  const { slotSize } = options;
  const endsAt = (cell: number): boolean => {
    const output = outputs.get(cell);
    return output?.statistics.eosIsArgmax[output.at] === 1;
  };
  // slots of options, and slots that want EOS, wait for the slots to their left
  const wantsEos = open.map(
    (isOpen, slot) =>
      isOpen && (canvas.blanks[blanks[slot] as number]?.choices !== undefined || someIn(slot, slotSize, endsAt)),
  );
  return selectSlots(scores, wantsEos, open, budgetOf(state, scores, options), (slot) => blanks[slot] as number);
}

/** Returns the number of slots that a round commits. */
function budgetOf({ open, rounds: done, schedule }: State, scores: Float64Array, options: UnmaskOptions): number {
  const { count, rounds } = options;
  if (count === undefined) return schedule[0] as number;
  const ranks = [...scores].filter((_, slot) => open[slot]).sort((a, b) => b - a);
  return done.length + 1 >= rounds ? ranks.length : count({ round: done.length, rounds, ranks });
}

/** Output at a position. `candidates`: the requested tokens, where options limit them. */
type PositionOutput = CellOutput & { readonly candidates: readonly number[] | undefined };

/** Draws a position's token: any, or one that continues an option. */
function take(state: State, filling: Filling, position: number, output: PositionOutput, options: UnmaskOptions): void {
  const { candidates, statistics, at } = output;
  if (candidates === undefined) draw(filling, position, statistics, at, options);
  else drawChoice(state, filling, position, { ...output, candidates }, options);
}

/** Draws a token of a blank with options among those that the earlier ones allow; none after its end. */
function drawChoice(
  { canvas, committed }: State,
  { uniform, drawn }: Filling,
  cell: number,
  output: PositionOutput & { readonly candidates: readonly number[] },
  { temperature, model, explore }: UnmaskOptions,
): void {
  const written = new Map(committed);
  for (const [other, { token }] of drawn) written.set(other, token);
  const allowed = canvas.allowed(cell, written, model.tokens.eos) as number[];
  if (allowed.length === 0) return;
  const logs = candidateLogProbs(output.statistics, output.at, output.candidates, allowed);
  const { index, logProb } = drawAmong(logs, temperature === 0 ? undefined : uniform[cell], explore);
  drawn.set(cell, { token: allowed[index] as number, logProb });
}

/** Returns the network's most probable token at each open position, independently. */
const draftOf = (outputs: CellOutputs): Map<number, number> =>
  new Map([...outputs].map(([cell, { statistics, at }]) => [cell, Number(statistics.argmax[at * 2])]));

/** Draws a position's token from the row that predicts it. */
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
  const ended = new Set<number>();
  for (let cell = 0; cell < state.open.length * slotSize; cell++) {
    const slot = Math.floor(cell / slotSize);
    const one = drawn.get(cell);
    if (!selected[slot] || one === undefined || ended.has(state.canvas.blankOf(cell))) continue;
    const { token, logProb } = one;
    const allowed = eosAllowed[slot] as boolean;
    // some models pad with EOS
    if (token === tokens.mask || (token === tokens.eos ? !allowed : token === tokens.pad))
      throw new Error(`the model sampled the blocked token ${token} at response position ${cell}`);
    if (!Number.isFinite(logProb)) overflowed(`log-probability of token ${token}`, cell);
    round.positions.push(cell);
    round.tokens.push(token);
    round.logProbs.push(logProb);
    round.eosAllowed.push(allowed);
    state.committed.set(cell, token);
    if (token === tokens.eos) ended.add(state.canvas.blankOf(cell));
  }
  state.schedule.shift();
  let closed = false;
  for (const slot of state.open.keys()) {
    if (!state.open[slot] || !(selected[slot] || ended.has(state.blanks[slot] as number))) continue;
    state.open[slot] = false;
    closed ||= !selected[slot];
  }
  // once ends have closed slots, the open rest is spread over the remaining rounds
  const rest = state.open.filter(Boolean).length;
  if (closed) state.schedule = revealSchedule(rest, options.rounds - state.rounds.length - 1);
  const open = [...(draft ?? [])].filter(
    ([cell]) => !state.committed.has(cell) && (state.canvas.isFree || state.open[Math.floor(cell / slotSize)]),
  );
  state.rounds.push(draft === undefined ? round : { ...round, draft: open.map(([, token]) => token) });
}

/** Returns one score per slot (higher is better), from the distribution before sampling. Committed slots score 0. */
function slotScores(state: State, outputs: CellOutputs, options: UnmaskOptions): Float64Array {
  const { slotSize, model } = options;
  const order = orderOf(options);
  const { prompt, canvas } = state;
  const scores = new Float64Array(state.open.length);
  for (let slot = 0; slot < scores.length; slot++) {
    // drawn for every slot, open or not: the number of draws is then the same in all rounds
    if (order === "random") scores[slot] = state.rng.uniform();
    else if (order === "left-to-right") scores[slot] = -slot;
    else if (state.open[slot] && order !== "blanks") {
      const { statistics, at } = outputs.get(slot * slotSize) as CellOutput;
      const score = rowScore(statistics, at, options, { slot, round: state.rounds.length });
      if (!Number.isFinite(score)) overflowed(order, slot * slotSize);
      scores[slot] = score;
    }
    // a block is completed before the next one
    const position = prompt.length + canvas.position(slot * slotSize);
    if (model.block !== undefined) scores[slot] = (scores[slot] as number) - LATER * Math.floor(position / model.block);
  }
  return scores;
}

/** Offset of later blocks' scores: larger than any difference of scores, which are probabilities or entropies. */
const LATER = 1e3;

function rowScore(
  { top, top2, entropy }: RowStatistics,
  row: number,
  { order, rank }: UnmaskOptions,
  place: Pick<SlotFacts, "slot" | "round">,
): number {
  const [best, second, nats] = [top[row], top2[row], entropy[row]] as [number, number, number];
  if (rank !== undefined) return rank({ top: best, top2: second, entropy: nats, ...place });
  if (order === "entropy") return -nats;
  return order === "confidence" ? best : best - second;
}

function someIn(slot: number, slotSize: number, test: (position: number) => boolean): boolean {
  for (let i = 0; i < slotSize; i++) if (test(slot * slotSize + i)) return true;
  return false;
}

function toTrajectory(state: State, options: UnmaskOptions): UnmaskTrajectory {
  const { slotSize, slotFill, temperature, model } = options;
  const responseLength = state.open.length * slotSize;
  const fill = slotFill === "parallel" ? {} : { slotFill };
  // every blank is committed up to its EOS, or to its full room
  const response = [...state.committed].sort(([a], [b]) => a - b).map(([, token]) => token);
  const ends = response.filter((token) => token === model.tokens.eos).length;
  return {
    prompt: [...state.prompt],
    ...(state.template === undefined ? {} : { template: state.template }),
    slotSize,
    ...fill,
    responseLength,
    temperature,
    rounds: state.rounds,
    response,
    ended: ends === state.canvas.blanks.length ? "eos" : "length",
  };
}
