import { fail } from "../core/errors.js";
import type { Rng } from "../core/rng.js";
import { Canvas, type TokenTemplate } from "./template.js";

/** A supervised example: token ids, the response without EOS, or a template's values with EOS; or state and actions. */
export interface SupervisedExample {
  readonly prompt: readonly number[];
  readonly response: readonly number[];
  readonly template?: TokenTemplate;
  /** Numbers of the blanks whose value the demonstration does not say: their tokens have no loss. */
  readonly unlabelled?: ReadonlySet<number>;
}

/** An example on its canvas. */
export interface FilledCanvas {
  readonly canvas: Canvas;
  /** By cell; EOS after an end. */
  readonly tokens: readonly number[];
  /** The cell of each blank's EOS. */
  readonly ends: readonly number[];
  /** Tells whether the demonstration says a cell's token. */
  isLabelled(cell: number): boolean;
}

/**
 * Returns numbers in (0, 1) for a batch, stratified: one in each of `count` equal parts, in random order, so that every
 * batch has both light and heavy corruption.
 */
export function stratified(count: number, rng: Rng): number[] {
  const strata = rng.shuffle(Array.from({ length: count }, (_, i) => i));
  return strata.map((stratum) => (stratum + rng.uniform()) / count);
}

/**
 * Lays out the response with its ends, every blank filled with EOS; without a template a canvas of `responseLength`.
 * @param maskGiven gives cells to the given tokens too.
 * @throws UserError where prompt or response do not fit.
 */
export function fillCanvas(
  { prompt, response, template, unlabelled }: SupervisedExample,
  sizes: { readonly promptLength: number; readonly responseLength: number },
  eos: number,
  maskGiven = false,
): FilledCanvas {
  const { promptLength, responseLength } = sizes;
  const canvas = maskGiven ? Canvas.whole(template) : Canvas.of(template);
  const length = canvas.isFree ? response.length + 1 : canvas.length;
  if (length > responseLength) {
    fail(
      canvas.isFree
        ? `A response of ${response.length} tokens and EOS do not fit response_length ${responseLength}`
        : `A template of ${length} tokens does not fit response_length ${responseLength}`,
      { hint: "Raise response_length, or leave the example out: a truncated response teaches a wrong end." },
    );
  }
  if (prompt.length > promptLength)
    fail(`A prompt of ${prompt.length} tokens does not fit prompt_length ${promptLength}`);
  const drawn = canvas.byCell(response, eos);
  const cells = canvas.isFree ? responseLength : canvas.cells;
  const tokens = Array.from({ length: cells }, (_, cell) => drawn[cell] ?? canvas.masked.get(cell) ?? eos);
  // a given token needs no EOS: its cell is its own end
  const ends = canvas.blanks.map(({ first }) => (canvas.masked.has(first) ? first : tokens.indexOf(eos, first)));
  const isLabelled = (cell: number): boolean => unlabelled?.has(canvas.blankOf(cell)) !== true;
  return { canvas, tokens, ends, isLabelled };
}
