import type { DiscreteRng } from "../../../core/rng.js";
import type { Batch } from "../../layout/batch.js";
import type { BufferBuilder } from "../../layout/buffer.js";
import type { BoundLayout } from "../../layout/scorings.js";
import { policyHead } from "../../score-head.js";
import { Canvas } from "../../template.js";
import { bufferTerms, layoutLength, responseSegments, type ScoredBuffer } from "../../terms.js";
import type { SampledModel } from "../../tokens.js";
import { canvasLength, layCanvas, pushSlots, revealSlots } from "./canvas.js";
import { layResponse, responseTerms } from "./next-token.js";
import { isSerial, type UnmaskOptions } from "./options.js";
import type { UnmaskTrajectory } from "./trajectory.js";

/**
 * The evidence lower bound of a masked diffusion model, by units (ESPO, arXiv 2512.03759; facts of any-order models):
 *
 *   ELBO(y) = E_{l ~ U{0..U}} E_{|S| = l} [ 1/2 (U+1)/l sum_{i in S} log p(y_i | y outside S)
 *                                         + 1/2 (U+1)/(U-l) sum_{i not in S} log p(y_i | y in S) ]
 *
 * over U units (slots with tokens of the response, or tokens where the slot size is 1). Given tokens are never masked;
 * cells after a blank's end are masked where the end is, else absent. An empty side contributes 0. Both halves have the
 * same expectation, so each alone is unbiased; together they cover every token once (coupled complement).
 */

/** Draws of one sample of the estimate, shared by policy, old policy and reference. */
export interface MaskDraw {
  /** One flag per slot. */
  readonly masked: readonly boolean[];
  /** Order of the clean slots in the buffer. */
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
 * Lays out one segment per response: its bound by `samples` draws, each covering every token once where it is coupled.
 * EOS is an ordinary token here and the temperature is 1: it is the model's bound, not the sampling policy's. With
 * `next-token` it is no estimate ({@link responseTerms}).
 * @param draw draws masks; proofs and tests replace it.
 */
export function boundTerms(
  trajectories: readonly UnmaskTrajectory[],
  options: UnmaskOptions,
  layout: BoundLayout,
  draw: typeof drawMask = drawMask,
): Batch {
  const { tokens } = options.model;
  if (options.slotFill === "next-token") return responseTerms(trajectories, options, layout);
  const scored = trajectories.flatMap((trajectory, b): ScoredBuffer[] => {
    const slots = unitsOf(trajectory, tokens.eos).length;
    const rng = layout.rngs[b] as DiscreteRng;
    const times = <T>(one: () => T): T[] => Array.from({ length: layout.samples }, one);
    if (layout.quadrature === undefined)
      return times(() => draw(slots, rng)).flatMap((drawn) => sides(trajectory, b, options, drawn, layout));
    return layout.quadrature.flatMap(({ fraction, weight }) =>
      times(() => drawFixed(slots, fraction, rng)).flatMap((drawn) =>
        sides(trajectory, b, options, drawn, layout, weight),
      ),
    );
  });
  return bufferTerms(
    scored,
    {
      batch: layout.batch * layout.samples * (layout.coupled ? 2 : 1) * (layout.quadrature?.length ?? 1),
      length: layoutLength(scored, layout),
      segments: layout.batch,
      share: layout.share,
    },
    responseSegments(trajectories, layout, policyHead, tokens),
  );
}

/** Slots that hold tokens of the response. */
function unitsOf({ response, slotSize, template }: UnmaskTrajectory, eos: number): number[] {
  const cells = Canvas.of(template).cellsOf(response, eos);
  return [...new Set(cells.map((cell) => Math.floor(cell / slotSize)))];
}

/**
 * Lays out a response with some slots known and the others predicted, and finds the row that predicts each position.
 * Known slots were revealed in order, so that each sees those before it. Where slots are filled in autoregressively,
 * the tokens of the other slots follow the masks, slot by slot, and see only the known ones. With
 * `next-token` nothing depends on what is known.
 * @param known slots in the order in which they were revealed.
 */
export function layMasked(
  trajectory: UnmaskTrajectory,
  clean: readonly number[],
  length: number,
  model: SampledModel,
): { buffer: BufferBuilder; rowOf(cell: number): number } {
  const { prompt, response, slotSize, slotFill, template } = trajectory;
  if (slotFill === "next-token") {
    const { buffer, rows } = layResponse(trajectory, model);
    return { buffer, rowOf: (cell) => rows.get(cell) as number };
  }
  const canvas = Canvas.of(template);
  const tokens = canvas.byCell(response, model.tokens.eos);
  const revealed = revealSlots(tokens, slotSize, clean);
  const { buffer, indexOf } = layCanvas({ prompt, canvas, revealed, slotSize, slotFill }, length, model);
  if (!isSerial(slotFill)) return { buffer, rowOf: (cell) => indexOf[cell] as number };
  const others = tokens.flatMap((token, cell) =>
    token === undefined || revealed.has(cell) ? [] : [[cell, token] as const],
  );
  const inSlots = pushSlots(buffer, others, slotSize, prompt.length + canvas.given.length + revealed.size);
  return { buffer, rowOf: (cell) => (cell % slotSize === 0 ? indexOf[cell] : inSlots.get(cell - 1)) as number };
}

/** Draws a fixed share of the slots as masked: floor(t U), at least one (GDPO, arXiv 2510.08554). */
function drawFixed(slots: number, fraction: number, rng: DiscreteRng): MaskDraw {
  const order = rng.shuffle(Array.from({ length: slots }, (_, i) => i));
  const masked = new Array<boolean>(slots).fill(false);
  for (const slot of order.slice(0, Math.max(1, Math.floor(fraction * slots)))) masked[slot] = true;
  return { masked, order: rng.shuffle(order) };
}

/** Lays out both views of one draw (or the first alone, without the coupled complement). */
function sides(
  trajectory: UnmaskTrajectory,
  segment: number,
  { model }: UnmaskOptions,
  draw: MaskDraw,
  { samples, coupled }: BoundLayout,
  weight?: number,
): ScoredBuffer[] {
  const { response, slotSize, template } = trajectory;
  const units = unitsOf(trajectory, model.tokens.eos);
  const cells = Canvas.of(template).cellsOf(response, model.tokens.eos);
  const slots = draw.masked.length;
  const views = coupled ? [draw.masked, draw.masked.map((m) => !m)] : [draw.masked];
  return views.map((masked): ScoredBuffer => {
    const size = masked.filter(Boolean).length;
    const clean = draw.order.flatMap((unit) => (masked[unit] ? [] : [units[unit] as number]));
    const length = canvasLength(response, trajectory, model);
    const { buffer, rowOf } = layMasked(trajectory, clean, length, model);
    // an empty side has no term to weight
    const coefficient = (weight === undefined ? slots + 1 : weight * slots) / size / views.length / samples;
    const terms = response.flatMap((target, i) => {
      const cell = cells[i] as number;
      return masked[units.indexOf(Math.floor(cell / slotSize))]
        ? [{ row: rowOf(cell), target, coefficient, segment, features: { eos_allowed: 1 } }]
        : [];
    });
    return { buffer, terms };
  });
}
