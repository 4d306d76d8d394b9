import { closing } from "../../../core/closing.js";
import type { prepareBatches } from "../../../train/update.js";
import { type Measurement, onePerScoring, type Proof, type VerifyContext } from "../../../verify/proof.js";
import { drawStep } from "../../../verify/samples.js";

const SAMPLES = 8;
const LIMIT = 1e-4;

/**
 * Before its first update, the ratio of an objective of every scoring is 1 as training_model computes it, with old values as a step
 * prepares them. Old values on masks of their own make it Monte-Carlo noise; values at another temperature a constant.
 * The limit allows for sums of float32 log-probabilities over a whole response.
 * @param prepare how a step lays samples out and fixes old values.
 */
export async function measureObjectiveRatio(
  context: VerifyContext,
  prepare?: typeof prepareBatches,
): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const trial of onePerScoring(context.objectives)) {
    await using policy = closing(await context.open(trial));
    const size = SAMPLES / 2;
    const batches = await drawStep(context, policy, trial, "objective-ratio", SAMPLES, { size }, prepare);
    let largest: number | undefined;
    for (const { batch, values } of batches) {
      const { ratio_error: error } = await policy.engine.accumulate(batch, values);
      // an objective without a ratio has nothing to be 1
      if (error !== undefined) largest = Math.max(largest ?? 0, error);
    }
    if (largest === undefined) continue;
    measurements.push({
      name: `${trial.objective.name}: ratio of the first update`,
      measured: largest,
      limit: LIMIT,
      detail: `largest |ratio - 1| of ${SAMPLES} rollouts`,
    });
  }
  return measurements;
}

export const proof: Proof = {
  claim: "the ratio of every scoring is 1 before the first update",
  run: (context) => measureObjectiveRatio(context),
};
