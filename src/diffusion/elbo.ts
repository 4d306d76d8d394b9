import type { DiscreteRng } from "../core/outcomes.js";
import type { TokenBuffer } from "./buffer.js";
import { maskSlots } from "./corrupt.js";

/**
 * The evidence lower bound of a masked diffusion model, by units (ESPO, arXiv 2512.03759; facts of any-order models):
 *
 *   ELBO(y) = E_{l ~ U{0..U}} E_{|S| = l} [ 1/2 (U+1)/l sum_{i in S} log p(y_i | y outside S)
 *                                         + 1/2 (U+1)/(U-l) sum_{i not in S} log p(y_i | y in S) ]
 *
 * over U units (slots of ReFusion, tokens where the slot size is 1); an empty side contributes 0. Both halves have the
 * same expectation, so either alone is unbiased too; together they cover every token once (the coupled complement).
 */

/** One masked copy of a response and what its masked tokens count. */
export interface ElboView {
  readonly buffer: TokenBuffer;
  /** Masked positions of the response: buffer row, position, and weight of its log-probability in the estimate. */
  readonly terms: readonly { readonly row: number; readonly position: number; readonly weight: number }[];
}

/** What is drawn for one sample of the estimate: it must be the same for policy, old and reference. */
export interface MaskDraw {
  /** One flag a slot. */
  readonly masked: readonly boolean[];
  /** Order in which clean slots stand in the buffer. */
  readonly order: readonly number[];
}

/** Draws the number of masked slots uniformly from {0..U}, then the slots. */
export function drawMask(slots: number, rng: DiscreteRng): MaskDraw {
  const order = rng.shuffle(Array.from({ length: slots }, (_, i) => i));
  const masked = new Array<boolean>(slots).fill(false);
  for (const slot of order.slice(0, rng.int(slots + 1))) masked[slot] = true;
  return { masked, order: rng.shuffle(order) };
}

/**
 * The two views of one draw (or the first alone, without the coupled complement).
 * @param share weight of this draw in the whole estimate: 1 / M.
 */
export function elboViews(
  example: { readonly prompt: readonly number[]; readonly response: readonly number[] },
  slotSize: number,
  draw: MaskDraw,
  coupled: boolean,
  share: number,
  maskToken: number,
): ElboView[] {
  const slots = draw.masked.length;
  const sides = coupled ? [draw.masked, draw.masked.map((m) => !m)] : [draw.masked];
  return sides.map((masked): ElboView => {
    const size = masked.filter(Boolean).length;
    const clean = draw.order.filter((slot) => !masked[slot]);
    const { buffer, indexOf } = maskSlots(example, slotSize, masked, clean, maskToken);
    const weight = size === 0 ? 0 : (share * (slots + 1)) / size / sides.length;
    const terms = example.response.flatMap((_, position) =>
      masked[Math.floor(position / slotSize)] ? [{ row: indexOf[position] as number, position, weight }] : [],
    );
    return { buffer, terms };
  });
}
