import type { Rng } from "../../../core/rng.js";
import type { RoundModel } from "../../../diffusion/sampler.js";
import type { NamedTensors } from "../../../onnx/tensors.js";
import { type FlowOptions, pathInputs } from "./options.js";
import type { FlowTrajectory } from "./trajectory.js";

/**
 * The surrogate ratio of flow policy optimisation (McAllister et al. 2025, arXiv 2507.21053, eq. 9): no likelihood, but
 * the policy's own flow-matching loss. With a pair (tau, e) for a chunk a of A numbers
 *
 *   l(theta) = 1/A |v(tau a + (1 - tau) e, tau | s) - (a - e)|^2
 *   rho      = exp(l_old - l(theta))                              one ratio a pair
 *
 * The pairs are drawn during the rollout and stored with l_old: both policies are compared on the same draws.
 */
export type Pair = NonNullable<FlowTrajectory["pairs"]>[number];

/** Computes a point on the straight path from noise e to an action a. */
export const between = (a: number, e: number, time: number): number => time * a + (1 - time) * e;

/** Draws each chunk's pairs with their losses. @param seen inputs of the observation. @param chunks [batch * A]. */
export async function drawPairs(
  model: RoundModel<Float32Array>,
  { seen, chunks, rngs }: { seen: NamedTensors; chunks: Float32Array; rngs: readonly Rng[] },
  { pairs: count, responseLength: size }: FlowOptions,
): Promise<Pair[][]> {
  const batch = chunks.length / size;
  const drawn: Pair[][] = rngs.map(() => []);
  for (let m = 0; m < count; m++) {
    const time = new Float32Array(batch);
    const noise = new Float32Array(batch * size);
    rngs.forEach((rng, b) => {
      time[b] = rng.uniform();
      for (let i = 0; i < size; i++) noise[b * size + i] = rng.normal();
    });
    const actions = chunks.map((a, i) => between(a, noise[i] as number, time[Math.floor(i / size)] as number));
    const velocity = await model.forwardRound({ inputs: { ...pathInputs(actions, time), ...seen }, headInputs: {} });
    drawn.forEach((of, b) => {
      const row = noise.subarray(b * size, (b + 1) * size);
      const loss = row.reduce((sum, e, i) => {
        const at = b * size + i;
        return sum + ((velocity[at] as number) - ((chunks[at] as number) - e)) ** 2 / size;
      }, 0);
      of.push({ time: time[b] as number, noise: [...row], loss });
    });
  }
  return drawn;
}
