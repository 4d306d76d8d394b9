import { ALL_LAYERS, type Recomputed } from "../autodiff/recompute.js";
import { LARGE } from "../autodiff/selective.js";

/**
 * Chooses what a training graph computes again, as little as a budget allows: nothing, then large results of cheap ops,
 * then the first layers as wholes, as many as needed. All layers are taken to save about the same.
 * @param budget bytes of a session.
 * @param layers of the model.
 * @param bytes of the session that computes this again.
 * @returns the choice with the smallest session where none fits.
 */
export function recomputedWithin(
  budget: number,
  layers: number,
  given: Recomputed,
  bytes: (recomputed: Recomputed) => number,
): Recomputed {
  if (given.layers !== undefined || bytes(given) <= budget) return given;
  const cheap: Recomputed = { cheap: LARGE };
  const most = bytes(cheap);
  if (most <= budget) return cheap;
  const all: Recomputed = { layers: ALL_LAYERS };
  const least = bytes(all);
  const needed = Math.ceil((layers * (most - budget)) / (most - least));
  if (least > budget || needed >= layers) return all;
  const some: Recomputed = { layers: needed, cheap: LARGE };
  return bytes(some) <= budget ? some : all;
}
