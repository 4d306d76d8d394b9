import { BufferBuilder } from "../../buffer.js";
import type { SampledModel } from "../../tokens.js";
import type { UnmaskOptions } from "./options.js";

/** A partly revealed response as the network reads it. */
export interface Canvas {
  readonly buffer: BufferBuilder;
  /** [length] buffer index of every response position. */
  readonly indexOf: Int32Array;
}

/** Response position -> token, in the order of commitment. */
export type Revealed = ReadonlyMap<number, number>;

/**
 * What revealed tokens see where slots are filled in autoregressively: the rounds before their own, and their own slot
 * up to themselves. Slots that are filled in side by side do not see each other, neither while they are drawn nor later,
 * so a token is read once and its keys and values are final.
 */
export interface SlotSight {
  readonly slotSize: number;
  /** Tokens that each round revealed. */
  readonly rounds: readonly number[];
}

/**
 * Appends tokens of slots, slot by slot. Each sees the first `before` entries and its own slot up to itself.
 * @returns buffer index by response position.
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

/** Prompt and revealed tokens of a causal model, in the order of commitment. */
export function layRevealed(
  prompt: readonly number[],
  revealed: Revealed,
  sight: SlotSight | undefined,
): BufferBuilder {
  const buffer = new BufferBuilder(prompt);
  if (sight === undefined) for (const [position, token] of revealed) buffer.push(token, position);
  else {
    const tokens = [...revealed];
    for (const size of sight.rounds) pushSlots(buffer, tokens.splice(0, size), sight.slotSize);
  }
  return buffer;
}

/**
 * Lays out a canvas of `length` positions. A causal model reads prompt | revealed tokens in their order | masks by
 * position, with original positions, so that masks see all that is revealed; a bidirectional one reads everything at
 * its own place, and every entry sees every other.
 * @param sight what revealed tokens see; default: all that was revealed before them.
 */
export function layCanvas(
  prompt: readonly number[],
  revealed: Revealed,
  length: number,
  { tokens, attention }: SampledModel,
  sight?: SlotSight,
): Canvas {
  const causal = attention === "causal";
  const buffer = layRevealed(prompt, causal ? revealed : new Map(), sight);
  const indexOf = new Int32Array(length);
  let next = prompt.length;
  if (causal) for (const position of revealed.keys()) indexOf[position] = next++;
  for (let position = 0; position < length; position++) {
    const token = revealed.get(position);
    if (token === undefined) indexOf[position] = buffer.push(tokens.mask, position);
    else if (!causal) indexOf[position] = buffer.push(token, position);
  }
  if (!causal) buffer.shared.fill(buffer.length);
  return { buffer, indexOf };
}

/** Positions of a canvas that matter to a response: what lies behind its end is seen by bidirectional models only. */
export function canvasLength(
  response: readonly number[],
  canvas: { readonly responseLength: number },
  { attention }: SampledModel,
): number {
  return attention === "causal" ? response.length : canvas.responseLength;
}

/** The canvas of a rollout, in positions: whole slots, as long as the response or as its prompt lets expect. */
export function canvasOf(
  prompt: readonly number[],
  { responseLength, slotSize, canvasPerPrompt }: UnmaskOptions,
): number {
  if (canvasPerPrompt === null) return responseLength;
  return Math.min(responseLength, slotSize * Math.ceil((canvasPerPrompt * Math.max(1, prompt.length)) / slotSize));
}

/** The tokens of some slots, in that order; the last slot may be partial. */
export function revealSlots(
  response: readonly number[],
  slotSize: number,
  slots: readonly number[],
): Map<number, number> {
  const revealed = new Map<number, number>();
  for (const slot of slots) {
    const end = Math.min((slot + 1) * slotSize, response.length);
    for (let i = slot * slotSize; i < end; i++) revealed.set(i, response[i] as number);
  }
  return revealed;
}
