import assert from "node:assert/strict";
import { Rng } from "../../src/core/rng.js";
import type { BoundLayout } from "../../src/diffusion/layout/scorings.js";

/**
 * Asserts that a bound draws the noise of a response from that response's stream, whatever else is in the batch.
 * @param some three trajectories, of which the first and the last have the same response.
 * @param values the bounds of trajectories that are laid out together.
 */
export function assertOwnStreams<T>(
  some: readonly [T, T, T],
  values: (trajectories: readonly T[], layout: BoundLayout) => readonly number[],
): void {
  const of = (indices: readonly number[]): readonly number[] => {
    const rngs = indices.map((i) => Rng.named(7, `sample ${i}`));
    const layout = { batch: indices.length, lengthStep: 1, samples: 2, coupled: true, rngs };
    return values(
      indices.map((i) => some[i] as T),
      layout,
    );
  };
  const together = of([0, 1, 2]);
  assert.ok(Math.abs((together[0] as number) - (together[2] as number)) > 1e-6, "the same response, another stream");
  for (const order of [[2], [1, 0], [2, 1, 0]])
    of(order).forEach((value, b) => {
      assert.ok(Math.abs(value - (together[order[b] as number] as number)) < 1e-9);
    });
}
