import { closing } from "../../../core/closing.js";
import type { prepareBatches } from "../../../train/update.js";
import { type Measurement, onePerScoring, type Proof, type VerifyContext } from "../proof.js";
import { drawStep } from "../samples.js";

const SAMPLES = 8;
const LIMIT = 1e-4;

/**
 * Verifies that the ratio of each objective, computed by training_model, is 1 before the first update. Old values on
 * other masks would make it Monte-Carlo noise; old values at another temperature would shift it.
 * The limit allows for rounding of float32 log-probabilities summed over a response.
 * @param prepare lays samples out and fixes old values.
 */
export async function measureObjectiveRatio(
  context: VerifyContext,
  prepare?: typeof prepareBatches,
): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const trial of onePerScoring(context.objectives)) {
    await using policy = closing(await context.open(trial));
    const batches = await drawStep(context, policy, trial, "objective-ratio", SAMPLES, prepare);
    let largest: number | undefined;
    for (const { batch, values } of batches) {
      const { ratio_error: error } = await policy.engine.accumulate(batch, values);
      // an objective without a ratio reports no error
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
