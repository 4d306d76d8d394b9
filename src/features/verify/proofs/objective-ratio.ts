import { closing } from "../../../core/closing.js";
import type { Engine } from "../../../engine/engine.js";
import type { ScoredBatch } from "../../../train/micro-batch.js";
import type { prepareBatches } from "../../../train/update.js";
import { only } from "../direction.js";
import { type Measurement, onePerScoring, type Proof, type VerifyContext } from "../proof.js";
import { drawStep } from "../samples.js";

const SAMPLES = 8;
const LIMIT = 1e-4;

/**
 * Verifies that the ratio of each objective, computed by training_model, is 1 before the first update. Old values on
 * other masks would make it Monte-Carlo noise; old values at another temperature would shift it.
 * Then its penalty to the reference, where it has one: with a turned sign the loss would fall away from the reference.
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
    if (largest !== undefined)
      measurements.push({
        name: `${trial.objective.name}: ratio of the first update`,
        measured: largest,
        limit: LIMIT,
        detail: `largest |ratio - 1| of ${SAMPLES} rollouts`,
      });
    if (trial.objective.needs(trial.options).reference)
      measurements.push({
        name: `${trial.objective.name}: penalty to the reference`,
        ...(await penaltyOf(policy.engine, batches)),
      });
  }
  return measurements;
}

/**
 * Compares the loss without credit where the reference has the policy's own log-probabilities with that of the real one:
 * a penalty is least there. Parameters of the objective's own are 0, so that they add nothing.
 */
async function penaltyOf(engine: Engine, batches: readonly ScoredBatch[]): Promise<Omit<Measurement, "name">> {
  await engine.setParameters(
    "policy",
    only(await engine.getParameters("reference"), await engine.getParameters("policy")),
  );
  const loss = async (reference: "old" | "reference"): Promise<number> => {
    let sum = 0;
    for (const { batch, values } of batches) {
      const advantage = values.advantage.map(() => 0);
      sum += (await engine.accumulate(batch, { ...values, advantage, reference: values[reference] })).loss as number;
    }
    return sum;
  };
  const measured = (await loss("old")) - (await loss("reference"));
  const detail = "loss without credit at the reference, less that of this policy; 0: nothing reads the reference";
  return { measured, limit: 0, proved: measured !== 0, detail };
}

export const proof: Proof = {
  claim: "the ratio of every scoring is 1 before the first update, and its penalty is least at the reference",
  run: (context) => measureObjectiveRatio(context),
};
