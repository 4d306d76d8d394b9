import { bucketLength } from "../../diffusion/buffer.js";
import { packedLength } from "../../diffusion/replay.js";
import type { Trajectory } from "../../diffusion/trajectory.js";
import type { UnmaskOptions } from "../../diffusion/policy.js";
import type { TermBatch } from "../../rl/objective.js";
import { packedTerms } from "../../rl/terms.js";
import type { Policy } from "../policy.js";

type Scorer = Pick<Policy, "engine" | "sampler">;

/** Trajectories packed in batches of `size` at one length, a segment a response. */
export function packBatches({ engine, sampler }: Scorer, options: UnmaskOptions, trajectories: readonly Trajectory[], size: number): TermBatch[] {
  const { rounds, reveals } = sampler.shapes(options);
  const length = bucketLength(Math.max(...trajectories.map((t) => packedLength(t))));
  const batches: TermBatch[] = [];
  for (let i = 0; i < trajectories.length; i += size) {
    const packed = sampler.pack(trajectories.slice(i, i + size), { tokens: engine.tokens, batch: size, length, rounds, reveals });
    batches.push(packedTerms(packed, { batch: size, canvas: options.responseLength, rounds }, "sequence"));
  }
  return batches;
}

/** log pi of each trajectory under the engine's policy, its terms added in float64. */
export async function logLikelihoods(scorer: Scorer, options: UnmaskOptions, trajectories: readonly Trajectory[], size = 64): Promise<Float64Array> {
  const out = new Float64Array(trajectories.length);
  const batches = packBatches(scorer, options, trajectories, size);
  for (const [i, batch] of batches.entries()) {
    const { logProbs } = await scorer.engine.score(batch, "policy");
    logProbs.forEach((logProb, r) => {
      if (batch.coefficient[r] === 1) out[i * size + Number(batch.segment[r])] = (out[i * size + Number(batch.segment[r])] as number) + logProb;
    });
  }
  return out;
}
