import type { Rng } from "../../../core/rng.js";
import type { RowRequest } from "../../round-reader.js";
import { rowNoise } from "../../sampler.js";
import type { Canvas, TokenTemplate } from "../../template.js";
import { layCanvas, layRevealed, type PartialResponse, pushSlots } from "./canvas.js";
import { layBefore } from "./next-token.js";
import type { UnmaskOptions } from "./options.js";
import type { TrajectoryRound } from "./trajectory.js";

/** One rollout in progress. */
export interface State {
  readonly prompt: readonly number[];
  readonly template: TokenTemplate | undefined;
  readonly canvas: Canvas;
  readonly rng: Rng;
  /** One flag per slot. */
  readonly open: boolean[];
  /** The blank of each slot. */
  readonly blanks: readonly number[];
  /** Cell -> token, in commit order. */
  readonly committed: Map<number, number>;
  readonly rounds: TrajectoryRound[];
  /** Number of slots of each remaining round. */
  schedule: number[];
}

/** One round of a rollout: its choice before sampling, and the tokens sampled so far. */
export interface Filling {
  /** [L] noise of the round, by cell. */
  readonly uniform: Float32Array;
  /** One flag per slot. */
  readonly selected: readonly boolean[];
  readonly eosAllowed: readonly boolean[];
  /** By cell. */
  readonly drawn: Map<number, Drawn>;
  /** Most probable token of every open cell, where drafts are recorded. */
  readonly draft: ReadonlyMap<number, number> | undefined;
}

interface Drawn {
  readonly token: number;
  readonly logProb: number;
}

/** Rows that predict tokens of a round, by cell. */
interface NextRequest {
  readonly positions: readonly number[];
  readonly request: RowRequest;
  /** The guesses that it reads, by cell. */
  readonly laid?: ReadonlyMap<number, number>;
}

function partialResponseOf(
  { prompt, canvas, committed, rounds }: State,
  { slotFill, slotSize }: UnmaskOptions,
): PartialResponse {
  return {
    prompt,
    canvas,
    revealed: committed,
    rounds: rounds.map(({ positions }) => positions.length),
    slotSize,
    slotFill,
  };
}

/** Returns the slots of the next round of `order: blanks`: each blank's next slot; in the last round all open ones. */
export function nextSlots({ open, blanks, rounds }: State, options: UnmaskOptions): boolean[] {
  const isLast = rounds.length + 1 === options.rounds;
  let blank = -1;
  return open.map((isOpen, slot) => {
    const isNext = isOpen && (isLast || blanks[slot] !== blank);
    if (isNext) blank = blanks[slot] as number;
    return isNext;
  });
}

/**
 * Tells which slots' masks the next round reads: all, unless the round's slots are known before it, no draft needs the
 * others, and no drawn token sees them.
 */
function readSlots(state: State, options: UnmaskOptions): (slot: number) => boolean {
  const { order, rank, count, slotFill, model, recordDrafts } = options;
  if (recordDrafts === true || model.attention !== "causal") return () => true;
  if (order === "blanks" && slotFill === "single-mask") {
    const next = nextSlots(state, options);
    return (slot) => next[slot] as boolean;
  }
  if (order !== "left-to-right" || rank !== undefined || count !== undefined) return () => true;
  const open = [...state.open.keys()].filter((slot) => state.open[slot]);
  const last = open[(state.schedule[0] as number) - 1] as number;
  return (slot) => slot <= last;
}

/** Draws a round's noise, by cell. */
export const noiseOf = ({ rng }: State, cells: number): Float32Array =>
  Float32Array.from({ length: cells }, () => rowNoise(rng));

/** Builds the rollout's request: its buffer, and its masks in order of position. */
export function maskRequest(state: State, options: UnmaskOptions): RowRequest {
  const { slotSize, model } = options;
  const isRead = readSlots(state, options);
  const cells = state.open.length * slotSize;
  const { buffer, indexOf } = layCanvas(partialResponseOf(state, options), cells, model, (cell) =>
    isRead(Math.floor(cell / slotSize)),
  );
  const rows = Array.from(indexOf, (n, cell) => (state.committed.has(cell) ? -1 : n));
  // drawn for all cells: the noise depends on the rollout and the round only
  return {
    buffer,
    rows,
    uniform: noiseOf(state, cells),
    ...(state.canvas.isConstrained
      ? {
          candidates: rows.map((n, cell) =>
            n < 0 ? undefined : state.canvas.allowed(cell, state.committed, model.tokens.eos),
          ),
        }
      : {}),
  };
}

/**
 * Builds inputs that predict the next token of every chosen slot: the i-th tokens of the slots that have not ended.
 * @returns undefined where there is none.
 */
export function nextTokens(
  state: State,
  filling: Filling | undefined,
  i: number,
  options: UnmaskOptions,
): NextRequest | undefined {
  if (filling === undefined) return undefined;
  const { slotSize, model } = options;
  const drawn: [position: number, token: number][] = [];
  const ended = new Set<number>();
  for (const [slot, isSelected] of filling.selected.entries()) {
    const slotTokens = isSelected ? tokensOf(filling, slot, slotSize) : [];
    const blank = state.blanks[slot] as number;
    if (slotTokens.at(-1)?.[1] === model.tokens.eos) ended.add(blank);
    // tokens after EOS in a blank are not kept
    if (!ended.has(blank)) drawn.push(...slotTokens);
  }
  if (drawn.length === 0) return undefined;
  const buffer = layRevealed(partialResponseOf(state, options));
  const rowOf = pushSlots(buffer, drawn, slotSize);
  const positions = drawn.map(([position]) => position + 1).filter((position) => position % slotSize === i);
  const written = new Map([...state.committed, ...drawn]);
  const request = {
    buffer,
    rows: positions.map((position) => rowOf.get(position - 1) as number),
    uniform: Float32Array.from(positions, (position) => filling.uniform[position] as number),
    ...(state.canvas.isConstrained
      ? { candidates: positions.map((position) => state.canvas.allowed(position, written, model.tokens.eos)) }
      : {}),
  };
  return { positions, request };
}

/**
 * Builds inputs that predict the next cell of every blank of the round; undefined where there is none. With
 * `speculate`, further cells of a blank are predicted from guesses of the tokens between: those that the prompt goes on
 * with where it holds the blank's last tokens (prompt lookup decoding), or the only one that an option allows.
 */
export function nextOfBlanks(
  state: State,
  filling: Filling | undefined,
  { slotSize, model, speculate = 1 }: UnmaskOptions,
): NextRequest | undefined {
  if (filling === undefined) return undefined;
  const { canvas, prompt, committed, blanks } = state;
  const { drawn, selected, uniform } = filling;
  const { eos } = model.tokens;
  const positions: number[] = [];
  const laid = new Map<number, number>();
  const written = new Map([...committed, ...[...drawn].map(([cell, { token }]) => [cell, token] as const)]);
  const candidates: (readonly number[] | undefined)[] = [];
  // `ahead`: cells from the blank's first open one on, 0 before it
  let [blank, ahead, ended] = [-1, 0, false];
  for (let cell = 0; cell < selected.length * slotSize; cell++) {
    const slot = Math.floor(cell / slotSize);
    if (!selected[slot]) continue;
    if (blanks[slot] !== blank) [blank, ahead, ended] = [blanks[slot] as number, 0, false];
    if (drawn.has(cell)) ended ||= written.get(cell) === eos;
    else if (!ended) {
      const allowed = canvas.allowed(cell, written, eos);
      positions.push(cell);
      candidates.push(allowed);
      const next = Math.floor((cell + 1) / slotSize);
      const isLast = ++ahead >= speculate || !selected[next] || blanks[next] !== blank;
      const guess = isLast ? undefined : guessAt(cell, state, written, allowed);
      // an end is predicted, and not read
      ended = guess === undefined || guess === eos;
      if (ended) continue;
      laid.set(cell, guess as number);
      written.set(cell, guess as number);
    }
  }
  if (positions.length === 0) return undefined;
  const { buffer, rows } = layBefore({ prompt, canvas }, written, positions, model);
  const request = {
    buffer,
    rows: positions.map((cell) => rows.get(cell) as number),
    uniform: Float32Array.from(positions, (cell) => uniform[cell] as number),
    ...(canvas.isConstrained ? { candidates } : {}),
  };
  return { positions, laid, request };
}

/** Most tokens of a blank that are looked up in the prompt. */
const LOOKED_UP = 3;

/** Guesses a cell's token; undefined where nothing suggests one. @param allowed where there are options. */
function guessAt(
  cell: number,
  { prompt, canvas }: Pick<State, "prompt" | "canvas">,
  written: ReadonlyMap<number, number>,
  allowed: readonly number[] | undefined,
): number | undefined {
  if (allowed?.length === 1) return allowed[0];
  const { first } = canvas.blanks[canvas.blankOf(cell)] as (typeof canvas.blanks)[number];
  for (let n = Math.min(LOOKED_UP, cell - first); n > 0; n--) {
    const isSame = (at: number): boolean => {
      for (let i = 0; i < n; i++) if (prompt[at + i] !== written.get(cell - n + i)) return false;
      return true;
    };
    const at = prompt.findIndex((_, i) => i + n < prompt.length && isSame(i));
    const guess = prompt[at + n];
    if (at >= 0 && (allowed?.includes(guess as number) ?? true)) return guess;
  }
  return undefined;
}

function tokensOf({ drawn }: Filling, slot: number, slotSize: number): [position: number, token: number][] {
  return Array.from({ length: slotSize }, (_, i) => slot * slotSize + i).flatMap((position) => {
    const token = drawn.get(position)?.token;
    return token === undefined ? [] : [[position, token]];
  });
}
