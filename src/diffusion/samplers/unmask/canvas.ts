import { BufferBuilder, type TokenBuffer } from "../../buffer.js";
import type { SampledModel } from "../../tokens.js";

/** A partly revealed response as the network reads it. */
export interface Canvas {
  readonly buffer: TokenBuffer;
  /** [length] buffer index of every response position. */
  readonly indexOf: Int32Array;
}

/**
 * Lays out a canvas of `length` positions. A causal model reads prompt | revealed tokens in their order | masks by
 * position, with original positions, so that masks see all that is revealed; a bidirectional one reads everything at
 * its own place, and every entry sees every other.
 * @param revealed response position -> token, in the order of commitment.
 */
export function layCanvas(
  prompt: readonly number[],
  revealed: ReadonlyMap<number, number>,
  length: number,
  { tokens, attention }: SampledModel,
): Canvas {
  const buffer = new BufferBuilder(prompt);
  const indexOf = new Int32Array(length);
  const push = (position: number, token: number): void => {
    indexOf[position] = buffer.push(token, position);
  };
  if (attention === "causal") for (const [position, token] of revealed) push(position, token);
  for (let position = 0; position < length; position++) {
    const token = revealed.get(position);
    if (token === undefined) push(position, tokens.mask);
    else if (attention === "bidirectional") push(position, token);
  }
  if (attention === "causal") return { buffer, indexOf };
  const { ids, positions } = buffer;
  return { buffer: { ids, positions, shared: ids.map(() => ids.length) }, indexOf };
}

/** Positions of a canvas that matter to a response: what lies behind its end is seen by bidirectional models only. */
export function canvasLength(
  response: readonly number[],
  canvas: { readonly responseLength: number },
  { attention }: SampledModel,
): number {
  return attention === "causal" ? response.length : canvas.responseLength;
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
