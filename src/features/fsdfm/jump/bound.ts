import type { DiscreteRng } from "../../../core/rng.js";
import type { Batch } from "../../../diffusion/layout/batch.js";
import type { BoundLayout } from "../../../diffusion/layout/scorings.js";
import { Canvas } from "../../../diffusion/template.js";
import { bufferTerms, responseSegments, type ScoredBuffer } from "../../../diffusion/terms.js";
import { flowBuffer, flowStart } from "./canvas.js";
import { generalisedKlHead } from "./heads.js";
import { type JumpOptions, ordinaryTokens } from "./options.js";
import type { JumpTrajectory } from "./trajectory.js";

/**
 * The flow's bound of log p(x_1), by the generalised KL (FS-DFM, arXiv 2509.20624):
 *
 *   log p(x_1) >= E_kappa sum_i 1 / (1 - kappa) * [p_i(x_t) - d_i + (1 - d_i) log p_i(x_1)],   kappa ~ U(m, 1 - m)
 *
 * over x_t that keeps each token of x_1 with probability kappa and else takes noise; the model reads t = kappa^(1/n). m
 * = 1 / (L + 1) cuts off where one corrupted token would weigh more than L + 1, the largest weight in a masked model's
 * bound. The complement of a draw is noise exactly where the draw had none, at 1 - kappa: together they cover each
 * token once. The response is scored up to its EOS (a template's blanks each up to their own); after it the canvas is
 * filled with EOS, as in training. Given tokens are never noise, and have no terms.
 */

/** Draws of one sample of the bound, shared by policy, old policy and reference. */
export interface Corruption {
  readonly kappa: number;
  /** [L] whether a position is noise. */
  readonly noisy: readonly boolean[];
  /** [L] x_0 */
  readonly noise: readonly number[];
}

/** Resolution of the uniform numbers. */
const GRID = 2 ** 20;

/** Draws kappa, the noisy positions, and the noise. @param ordinary tokens that noise is drawn from. */
export function drawCorruption(length: number, ordinary: readonly number[], rng: DiscreteRng): Corruption {
  const margin = 1 / (length + 1);
  const uniform = (): number => (rng.int(GRID) + 0.5) / GRID;
  const kappa = margin + (1 - 2 * margin) * uniform();
  return {
    kappa,
    noisy: Array.from({ length }, () => uniform() >= kappa),
    noise: Array.from({ length }, () => ordinary[rng.int(ordinary.length)] as number),
  };
}

/** Returns the complement of a draw. */
export const complement = ({ kappa, noisy, noise }: Corruption): Corruption => ({
  kappa: 1 - kappa,
  noisy: noisy.map((x) => !x),
  noise,
});

/** Returns x_t of a canvas. */
export const corrupt = (canvas: readonly number[], { noisy, noise }: Corruption): number[] =>
  canvas.map((token, i) => (noisy[i] ? (noise[i] as number) : token));

/** Returns the model's conditions at kappa: the time, and the step size of sampling. */
export const flowConditions = (kappa: number, { steps, exponent }: JumpOptions): { time: number; step: number } => ({
  time: kappa ** (1 / exponent),
  step: 1 / steps,
});

/** Lays out one segment per response. @param draw draws corruptions; proofs and tests replace it. */
export function flowBoundTerms(
  trajectories: readonly JumpTrajectory[],
  options: JumpOptions,
  layout: BoundLayout,
  draw: typeof drawCorruption = drawCorruption,
): Batch {
  const { promptLength, responseLength, model } = options;
  const { eos } = model.tokens;
  const ordinary = ordinaryTokens(model);
  const halves = layout.coupled ? 2 : 1;
  const scored = trajectories.flatMap((trajectory, segment): ScoredBuffer[] => {
    const { response, template } = trajectory;
    const places = Canvas.of(template);
    const length = Math.min(responseLength, places.cells);
    const known = places.byCell(response, eos);
    const cells = places.cellsOf(response, eos);
    const canvas = Array.from({ length }, (_, cell) => known[cell] ?? eos);
    return Array.from({ length: layout.samples }, () => draw(length, ordinary, layout.rngs[segment] as DiscreteRng))
      .flatMap((drawn) => (layout.coupled ? [drawn, complement(drawn)] : [drawn]))
      .map((drawn) => {
        const state = corrupt(canvas, drawn);
        const coefficient = 1 / (1 - drawn.kappa) / halves / layout.samples;
        const terms = response.map((target, i) => ({
          row: flowStart(trajectory.prompt, trajectory.template) + (cells[i] as number),
          target,
          coefficient,
          segment,
          features: { current: state[cells[i] as number] as number },
        }));
        return {
          buffer: flowBuffer(trajectory.prompt, state, trajectory.template),
          conditions: flowConditions(drawn.kappa, options),
          terms,
        };
      });
  });
  return bufferTerms(
    scored,
    {
      batch: layout.batch * layout.samples * halves,
      length: promptLength + responseLength,
      segments: layout.batch,
    },
    responseSegments(trajectories, layout, generalisedKlHead, model.tokens),
  );
}
