import { BufferBuilder } from "../../layout/buffer.js";
import { Canvas } from "../../template.js";
import type { SampledModel } from "../../tokens.js";
import type { TokenTrajectory } from "../../trajectory.js";
import { hasMask, isSerial, type Slots, type UnmaskOptions } from "./options.js";

/** A partly revealed response as the network's input. */
export interface Laid {
  readonly buffer: BufferBuilder;
  /** [length] buffer index of every cell; -1 for a cell that an end has closed or that has no mask. */
  readonly indexOf: Int32Array;
}

/** Cell -> token, in the order of commitment. */
export type Revealed = ReadonlyMap<number, number>;

/** A response in progress. */
export interface PartialResponse extends Slots {
  readonly prompt: readonly number[];
  readonly canvas: Canvas;
  readonly revealed: Revealed;
  /**
   * Tokens per round, in order; absent: one token per round. Where slots are filled in autoregressively, a token sees
   * the earlier rounds, and its own slot up to itself. Slots of one round never see each other, neither while they are
   * drawn nor later, so that a token is read once and its keys and values are final.
   */
  readonly rounds?: readonly number[] | undefined;
}

/**
 * Appends tokens of slots, slot by slot. Each sees the first `before` entries and its own slot up to itself.
 * @returns buffer index by cell.
 */
export function pushSlots(
  buffer: BufferBuilder,
  tokens: Iterable<readonly [position: number, token: number]>,
  slotSize: number,
  before = buffer.length,
): Map<number, number> {
  const indexOf = new Map<number, number>();
  let [slot, start] = [-1, 0];
  for (const [position, token] of tokens) {
    const here = Math.floor(position / slotSize);
    if (here !== slot) [slot, start] = [here, buffer.length];
    indexOf.set(position, buffer.push(token, position, before, start));
  }
  return indexOf;
}

/** Lays out prompt, given and revealed tokens of a causal model, the latter in commit order. */
export function layRevealed({ prompt, canvas, revealed, rounds, slotFill, slotSize }: PartialResponse): BufferBuilder {
  const buffer = new BufferBuilder(prompt, canvas);
  if (rounds === undefined || !isSerial(slotFill))
    for (const [position, token] of revealed) buffer.push(token, position);
  else {
    const tokens = [...revealed];
    for (const size of rounds) pushSlots(buffer, tokens.splice(0, size), slotSize);
  }
  return buffer;
}

/**
 * Appends the mask of an open cell. It sees the first `before` entries and the masks from `start` up to itself, or of
 * the masks only itself where one mask stands for a slot. @returns its buffer index.
 */
export function pushMask(
  buffer: BufferBuilder,
  mask: number,
  cell: number,
  { slotFill }: Slots,
  sees: { readonly before: number; readonly start: number },
): number {
  return buffer.push(mask, cell, sees.before, slotFill === "single-mask" ? buffer.length : sees.start);
}

/**
 * Lays out the first `length` cells of a canvas. A causal model reads prompt | given tokens | revealed tokens in commit
 * order | masks by position, with original positions, so that masks see all given and revealed tokens. In a
 * bidirectional model every entry sees every other, or its own block and the blocks before.
 * @param isShown cells whose masks are laid out; default: all.
 */
export function layCanvas(
  partial: PartialResponse,
  length: number,
  { tokens, attention, block }: SampledModel,
  isShown = (_cell: number): boolean => true,
): Laid {
  const { canvas, revealed } = partial;
  const causal = attention === "causal";
  const buffer = layRevealed(causal ? partial : { ...partial, revealed: new Map() });
  const indexOf = new Int32Array(length).fill(-1);
  let next = buffer.length - (causal ? revealed.size : 0);
  if (causal) for (const cell of revealed.keys()) indexOf[cell] = next++;
  const before = buffer.length;
  const isOpen = canvas.openness(revealed, tokens.eos);
  const cells = Array.from({ length }, (_, cell) => cell);
  if (canvas.masked.size > 0) cells.sort((a, b) => canvas.position(a) - canvas.position(b));
  for (const cell of cells) {
    const token = revealed.get(cell);
    if (token !== undefined) {
      if (!causal) indexOf[cell] = buffer.push(token, cell);
    } else if (isOpen(cell) && hasMask(partial, cell) && isShown(cell)) {
      indexOf[cell] = pushMask(buffer, tokens.mask, cell, partial, { before, start: before });
    }
  }
  if (causal) return { buffer, indexOf };
  if (block === undefined) buffer.prefix.fill(buffer.length);
  const places = block === undefined ? undefined : buffer.inBlocks(block);
  return { buffer, indexOf: places === undefined ? indexOf : indexOf.map((n) => places[n] ?? n) };
}

/** Returns the number of cells that affect a response: only bidirectional models see the cells after its last token. */
export function canvasLength(
  response: readonly number[],
  { responseLength, template }: Pick<TokenTrajectory, "responseLength" | "template">,
  { attention, tokens }: SampledModel,
): number {
  if (attention !== "causal") return responseLength;
  return (Canvas.of(template).cellsOf(response, tokens.eos).at(-1) ?? -1) + 1;
}

/** Returns the canvas of a rollout, in positions: whole slots, the full length or in proportion to the prompt's. */
export function canvasOf(
  prompt: readonly number[],
  { responseLength, slotSize, canvasPerPrompt }: UnmaskOptions,
): number {
  if (canvasPerPrompt === null) return responseLength;
  return Math.min(responseLength, slotSize * Math.ceil((canvasPerPrompt * Math.max(1, prompt.length)) / slotSize));
}

/** Returns the tokens of slots, in that order; a slot with an end is partial. @param tokens by cell. */
export function revealSlots(
  tokens: readonly (number | undefined)[],
  slotSize: number,
  slots: readonly number[],
): Map<number, number> {
  const revealed = new Map<number, number>();
  for (const slot of slots) {
    for (let cell = slot * slotSize; cell < (slot + 1) * slotSize; cell++) {
      const token = tokens[cell];
      if (token !== undefined) revealed.set(cell, token);
    }
  }
  return revealed;
}
