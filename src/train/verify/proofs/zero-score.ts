import type { UnmaskOptions } from "../../../diffusion/policy.js";
import type { Trajectory } from "../../../diffusion/trajectory.js";
import type { Tensor } from "../../../onnx/types.js";
import type { Objective } from "../../../rl/objective.js";
import type { Policy } from "../../policy.js";
import { moved, randomDirection } from "../direction.js";
import { logLikelihoods, packBatches } from "../likelihood.js";
import { type Measurement, type Proof, smallCanvas, takePrompts, type VerifyContext } from "../proof.js";

const ROLLOUTS = 512;
const BATCH = 64;
const STANDARD_ERRORS = 4;
/** Standard deviation of log pi(theta + eps u) - log pi(theta - eps u) over rollouts that eps is chosen for. */
const SPREAD = 0.05;

/** The mean log-likelihood: its gradient is the mean score. */
const likelihood: Objective = {
  name: "log-likelihood",
  description: "",
  schema: {} as Objective["schema"],
  learnsFrom: "rollouts",
  penalty: () => 0,
  layout: () => {
    throw new Error("laid out by the proof");
  },
  loss: ({ e, value, weight }) => ({ loss: e.total(e.mul(value, weight)), metrics: {} }),
};

/**
 * Under a constant reward the policy gradient must vanish: E[d log pi / d theta] = 0 under the policy that samples.
 * Measured on rollouts as the directional derivative of each one's log-likelihood (central differences through
 * eval_model), along a random direction and along the mean score of the other half of the rollouts: the direction that
 * a bias would train in, yet independent of the half that is tested.
 */
export async function measureZeroScore(
  context: VerifyContext,
  rollout: Policy["sampler"]["rollout"] = context.policy.sampler.rollout,
): Promise<Measurement[]> {
  const policy = await context.open({ objective: likelihood, options: {} });
  try {
    const { engine } = policy;
    const options = smallCanvas(policy.options, 4, 3);
    const prompts = takePrompts(context, ROLLOUTS);
    const rngs = prompts.map((_, i) => context.rng(`zero-score/${i}`));
    const trajectories = await rollout(engine, prompts, options, rngs, BATCH);
    const parameters = await engine.getParameters("policy");
    const tested = trajectories.slice(ROLLOUTS / 2);
    const random = randomDirection(parameters, context.rng("zero-score/direction"));
    const biased = await meanScore(policy, options, trajectories.slice(0, ROLLOUTS / 2));
    const measure = async (name: string, direction: ReadonlyMap<string, Tensor>, of: readonly Trajectory[]): Promise<Measurement> => {
      const { mean, error } = await directionalScore(policy, options, of, parameters, direction);
      return {
        name,
        measured: Math.abs(mean) / error,
        limit: STANDARD_ERRORS,
        detail: `|mean| in standard errors: ${mean.toExponential(1)} +- ${error.toExponential(1)} over ${of.length} rollouts, constant reward`,
      };
    };
    return [
      await measure("mean score, random direction", random, trajectories),
      await measure("mean score, most likely bias", biased, tested),
    ];
  } finally {
    await policy.close();
  }
}

/** Gradient of the mean log-likelihood. */
async function meanScore(policy: Policy, options: UnmaskOptions, trajectories: readonly Trajectory[]): Promise<Map<string, Tensor>> {
  const { engine } = policy;
  engine.discardGradients();
  for (const batch of packBatches(policy, options, trajectories, BATCH)) {
    const none = new Float32Array(batch.segments);
    const weight = Float32Array.from(batch.owner, (b) => (b < 0 ? 0 : 1 / trajectories.length));
    await engine.accumulate(batch, { old: none, reference: none, advantage: none, weight });
  }
  return engine.getGradients();
}

/** Mean over the trajectories of d log pi / d eps at theta + eps u, and its standard error; in units that make u small. */
async function directionalScore(
  policy: Policy,
  options: UnmaskOptions,
  trajectories: readonly Trajectory[],
  parameters: ReadonlyMap<string, Tensor>,
  direction: ReadonlyMap<string, Tensor>,
): Promise<{ mean: number; error: number }> {
  const at = async (epsilon: number, some: readonly Trajectory[]): Promise<Float64Array> => {
    await policy.engine.setParameters("policy", moved(parameters, direction, epsilon));
    return logLikelihoods(policy, options, some, BATCH);
  };
  const differences = async (epsilon: number, some: readonly Trajectory[]): Promise<Float64Array> => {
    const [plus, minus] = [await at(epsilon, some), await at(-epsilon, some)];
    return plus.map((x, i) => x - (minus[i] as number));
  };
  // a step that changes the likelihoods by a few per cent: far above rounding, far below curvature
  const size = Math.sqrt([...direction.values()].reduce((sum, t) => sum + (t.data as Float32Array).reduce((s, x) => s + x * x, 0), 0));
  let epsilon = 1e-3 / Math.max(size, 1e-30);
  const pilot = trajectories.slice(0, BATCH);
  for (let i = 0; i < 2; i++) epsilon *= SPREAD / Math.max(moments(await differences(epsilon, pilot)).deviation, 1e-9);
  const { mean, deviation } = moments(await differences(epsilon, trajectories));
  await policy.engine.setParameters("policy", parameters);
  return { mean, error: deviation / Math.sqrt(trajectories.length) };
}

function moments(xs: Float64Array): { mean: number; deviation: number } {
  const mean = xs.reduce((sum, x) => sum + x, 0) / xs.length;
  return { mean, deviation: Math.sqrt(xs.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (xs.length - 1)) };
}

export const proof: Proof = {
  claim: "the mean score under a constant reward is 0",
  run: (context) => measureZeroScore(context),
};
