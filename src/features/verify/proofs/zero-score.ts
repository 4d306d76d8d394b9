import { mean, sampleStd } from "../../../core/statistics.js";
import type { Batch } from "../../../diffusion/layout/batch.js";
import { scoringTemperature } from "../../../diffusion/sampler.js";
import type { Engine } from "../../../engine/engine.js";
import type { Policy } from "../../../engine/policy.js";
import { scalar } from "../../../onnx/tensors.js";
import { moved, randomDirection } from "../direction.js";
import { type Measurement, type Proof, smallCanvas, stepsOf, takeStarts, type VerifyContext } from "../proof.js";

const ROLLOUTS = 512;
const BATCH = 64;
const STANDARD_ERRORS = 4;
/** Target standard deviation of log pi(+eps) - log pi(-eps): eps is chosen above rounding and below curvature. */
const SPREAD = 0.05;

/** Computes log pi of the batches' rollouts at `epsilon` along a direction away from the sampling policy. */
type Likelihood = (batches: readonly Batch[], epsilon: number) => Promise<Float64Array>;

/**
 * Verifies that the policy gradient vanishes under a constant reward: E[d log pi / d theta] = 0.
 * Measured on rollouts as the derivative of each log-likelihood (central differences through eval_model) along two
 * directions: a random one of the adapter, and, if tokens are drawn, a lower temperature in scoring. The latter finds
 * samplers that prefer likely tokens more than their score says: training would sharpen their policy.
 */
export async function measureZeroScore(
  context: VerifyContext,
  rollout: Policy["sampler"]["rollout"] = context.policy.sampler.rollout,
): Promise<Measurement[]> {
  const { policy } = context;
  const { engine, sampler } = policy;
  const options = smallCanvas(policy);
  const prompts = takeStarts(context, ROLLOUTS, options);
  const rngs = prompts.map((_, i) => context.rng(`zero-score/${i}`));
  const trajectories = await rollout(engine, prompts, options, rngs, BATCH);
  const sorted = trajectories.sort((a, b) => sampler.size(a) - sampler.size(b));
  // one segment per response
  const layout = { batch: BATCH, lengthStep: 16, level: "sequence" } as const;
  const batches = Array.from({ length: Math.ceil(sorted.length / BATCH) }, (_, i) =>
    stepsOf(sampler)(sorted.slice(i * BATCH, (i + 1) * BATCH), options, layout),
  );
  const parameters = await engine.getParameters("policy");
  const direction = randomDirection(parameters, context.rng("zero-score/direction"));
  const adapter: Likelihood = async (some, epsilon) => {
    await engine.setParameters("policy", moved(parameters, direction, epsilon));
    return logLikelihoods(engine, some);
  };
  const sharper: Likelihood = (some, epsilon) => {
    const inverse_temperature = scalar((1 + epsilon) / scoringTemperature(options.temperature));
    return logLikelihoods(
      engine,
      some.map((batch) => ({ ...batch, headInputs: { ...batch.headInputs, inverse_temperature } })),
    );
  };
  // a head without a vocabulary has no temperature
  const tempered = batches.every(({ headInputs }) => headInputs.inverse_temperature !== undefined);
  try {
    return [
      await measure("mean score, random direction", batches, adapter),
      ...(tempered ? [await measure("mean score, sharper policy", batches, sharper)] : []),
    ];
  } finally {
    await engine.setParameters("policy", parameters);
  }
}

async function measure(name: string, batches: readonly Batch[], likelihood: Likelihood): Promise<Measurement> {
  const scores = async (some: readonly Batch[], epsilon: number): Promise<number[]> => {
    const [plus, minus] = [await likelihood(some, epsilon), await likelihood(some, -epsilon)];
    return Array.from(plus, (x, i) => (x - (minus[i] as number)) / (2 * epsilon));
  };
  const pilot = batches.slice(0, 1);
  let epsilon = 1e-2;
  // twice: with the first epsilon the likelihood may be far from linear
  for (let i = 0; i < 2; i++) epsilon = SPREAD / 2 / Math.max(sampleStd(await scores(pilot, epsilon)), 1e-6);
  const all = await scores(batches, epsilon);
  const [average, error] = [mean(all), sampleStd(all) / Math.sqrt(all.length)];
  return {
    name,
    measured: Math.abs(average) / error,
    limit: STANDARD_ERRORS,
    detail: `|mean| in standard errors: ${average.toExponential(1)} +- ${error.toExponential(1)}, ${all.length} rollouts, constant reward`,
  };
}

/**
 * Computes log pi of each trajectory under the engine's policy; terms are added in float64. Samplers without
 * log-probabilities give their substitute instead.
 */
async function logLikelihoods(engine: Engine, batches: readonly Batch[]): Promise<Float64Array> {
  const out: number[] = [];
  for (const batch of batches) {
    const { logProbs } = await engine.score(batch, "policy");
    const sums = new Float64Array(batch.segments);
    logProbs.forEach((logProb, r) => {
      const s = Number(batch.segment[r]);
      // padding terms may have any value
      if (batch.coefficient[r] !== 0) sums[s] = (sums[s] as number) + logProb * (batch.coefficient[r] as number);
    });
    out.push(...sums.filter((_, s) => (batch.owner[s] as number) >= 0));
  }
  return Float64Array.from(out);
}

export const proof: Proof = {
  claim: "the mean score under a constant reward is 0",
  run: (context) => measureZeroScore(context),
};
