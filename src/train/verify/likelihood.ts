import { bucketLength } from "../../diffusion/buffer.js";
import type { UnmaskOptions } from "../../diffusion/policy.js";
import { packedLength } from "../../diffusion/replay.js";
import type { Trajectory } from "../../diffusion/trajectory.js";
import type { TermBatch } from "../../rl/objective.js";
import { packedTerms } from "../../rl/terms.js";
import type { Engine } from "../engine.js";
import type { Policy } from "../policy.js";

/** Trajectories packed in batches of `size` at one length, a segment a response. */
export function packBatches(
  { engine, sampler }: Pick<Policy, "engine" | "sampler">,
  options: UnmaskOptions,
  trajectories: readonly Trajectory[],
  size: number,
): TermBatch[] {
  const { rounds, reveals } = sampler.shapes(options);
  const length = bucketLength(Math.max(...trajectories.map((t) => packedLength(t))));
  const batches: TermBatch[] = [];
  for (let i = 0; i < trajectories.length; i += size) {
    const packed = sampler.pack(trajectories.slice(i, i + size), {
      tokens: engine.tokens,
      batch: size,
      length,
      rounds,
      reveals,
    });
    batches.push(packedTerms(packed, { batch: size, canvas: options.responseLength, rounds }, "sequence"));
  }
  return batches;
}

/** log pi of each trajectory of the batches under the engine's policy, its terms added in float64. */
export async function logLikelihoods(engine: Engine, batches: readonly TermBatch[]): Promise<Float64Array> {
  const out: number[] = [];
  for (const batch of batches) {
    const { logProbs } = await engine.score(batch, "policy");
    const sums = new Float64Array(batch.batch);
    logProbs.forEach((logProb, r) => {
      const b = Number(batch.segment[r]);
      if (batch.coefficient[r] === 1) sums[b] = (sums[b] as number) + logProb;
    });
    out.push(...sums.filter((_, b) => (batch.owner[b] as number) >= 0));
  }
  return Float64Array.from(out);
}
