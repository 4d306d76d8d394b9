import { ALL_LAYERS, type Recomputed } from "../autodiff/recompute.js";
import { LARGE } from "../autodiff/selective.js";

/**
 * What a training graph computes again, as little as a budget allows: nothing, then large results of cheap ops, then the
 * first layers as wholes, as many as it takes. What a layer saves is about the same for all.
 * @param budget bytes of a session.
 * @param layers of the model.
 * @param bytes that a session takes.
 * @returns the way with the smallest graph where none fits.
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
