import { misuse } from "../core/errors.js";
import type { Batch } from "../diffusion/batch.js";
import type { SamplerOptions } from "../diffusion/sampler.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { Engine } from "../engine/engine.js";
import type { Policy } from "../engine/policy.js";

/** Gives a sampler's likelihood of its steps. @throws UserError where it has no likelihood: there is nothing to prove then. */
export function stepsOf({ stepTerms }: Policy["sampler"]): NonNullable<Policy["sampler"]["stepTerms"]> {
  if (stepTerms !== undefined) return stepTerms;
  misuse("The sampler has no likelihood, so there is nothing to prove.");
}

/** Trajectories in batches of `size`, a segment a response. */
export function sequenceBatches(
  { sampler }: Pick<Policy, "sampler">,
  options: SamplerOptions,
  trajectories: readonly Trajectory[],
  size: number,
): Batch[] {
  const sorted = [...trajectories].sort((a, b) => sampler.size(a) - sampler.size(b));
  const batches: Batch[] = [];
  for (let i = 0; i < sorted.length; i += size) {
    batches.push(
      stepsOf(sampler)(sorted.slice(i, i + size), options, { batch: size, lengthStep: 16, level: "sequence" }),
    );
  }
  return batches;
}

/**
 * log pi of each trajectory of the batches under the engine's policy, its terms added in float64. Where a term is no
 * log-probability: what the sampler puts in its place.
 */
export async function logLikelihoods(engine: Engine, batches: readonly Batch[]): Promise<Float64Array> {
  const out: number[] = [];
  for (const batch of batches) {
    const { logProbs } = await engine.score(batch, "policy");
    const sums = new Float64Array(batch.segments);
    logProbs.forEach((logProb, r) => {
      const s = Number(batch.segment[r]);
      // a padding term may be anything
      if (batch.coefficient[r] !== 0) sums[s] = (sums[s] as number) + logProb * (batch.coefficient[r] as number);
    });
    out.push(...sums.filter((_, s) => (batch.owner[s] as number) >= 0));
  }
  return Float64Array.from(out);
}
