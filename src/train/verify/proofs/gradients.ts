import type { Tensor } from "../../../onnx/types.js";
import type { Engine } from "../../engine.js";
import { type MicroBatch, prepareBatches } from "../../update.js";
import { inner, moved, randomDirection, scaled } from "../direction.js";
import { type Measurement, type ObjectiveOnTrial, type Proof, smallCanvas, type VerifyContext } from "../proof.js";
import { drawSamples } from "../samples.js";

const SAMPLES = 4;
const DIRECTIONS = 3;
/** A float32 loss has seven digits, of which a difference keeps about four; curvature takes another. */
const LIMIT = 2e-2;
/** Change of the loss that a step is chosen for, relative to its size. */
const CHANGE = 3e-3;
/** The policy is moved off the one that sampled, so that ratio, clip and penalty all count. */
const OFF_POLICY = 0.02;

type Gradients = ReadonlyMap<string, Tensor>;

/**
 * training_model's gradient of every objective against central differences of its own loss. A random direction in many
 * dimensions is nearly orthogonal to the gradient, and its difference drowns in rounding: each direction is the gradient
 * with every element switched on or off at random, so that all tensors count with their full weight.
 * @param read where the gradient comes from.
 */
export async function measureGradients(context: VerifyContext, read: (engine: Engine) => Promise<Gradients> = (engine) => engine.getGradients()): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const trial of context.objectives) {
    measurements.push({
      name: `${trial.objective.name}: gradient of the loss`,
      measured: await largestError(context, trial, read),
      limit: LIMIT,
      detail: `largest relative error of ${DIRECTIONS} directional derivatives, float32`,
    });
  }
  return measurements;
}

async function largestError(context: VerifyContext, trial: ObjectiveOnTrial, read: (engine: Engine) => Promise<Gradients>): Promise<number> {
  const policy = await context.open(trial);
  try {
    const { engine } = policy;
    const options = smallCanvas(policy.options, 4, 3);
    const samples = await drawSamples(context, policy, options, SAMPLES, "gradients");
    const batches = await prepareBatches({ ...policy, options }, trial.objective, trial.options, samples, SAMPLES, context.rng("gradients/layout"));
    const sampled = await engine.getParameters("policy");
    const parameters = moved(sampled, randomDirection(sampled, context.rng("gradients/off-policy")), OFF_POLICY);
    await engine.setParameters("policy", parameters);
    const value = await loss(engine, batches);
    const gradients = await read(engine);
    let largest = 0;
    for (let i = 0; i < DIRECTIONS; i++) {
      const rng = context.rng(`gradients/${i}`);
      const direction = i === 0 ? gradients : scaled(gradients, () => rng.int(2));
      const slope = inner(gradients, direction);
      const epsilon = (CHANGE * Math.max(Math.abs(value), 0.1)) / Math.max(Math.abs(slope), 1e-30);
      const at = async (step: number): Promise<number> => {
        await engine.setParameters("policy", moved(parameters, direction, step));
        return loss(engine, batches);
      };
      const difference = ((await at(epsilon)) - (await at(-epsilon))) / (2 * epsilon);
      largest = Math.max(largest, Math.abs(difference / slope - 1));
    }
    return largest;
  } finally {
    await policy.close();
  }
}

/** The loss of all micro-batches; their gradient is then the engine's accumulated one. */
async function loss(engine: Engine, batches: readonly MicroBatch[]): Promise<number> {
  engine.discardGradients();
  let total = 0;
  for (const { terms, values } of batches) total += (await engine.accumulate(terms, values)).loss as number;
  return total;
}

export const proof: Proof = {
  claim: "loss gradients agree with finite differences",
  run: (context) => measureGradients(context),
};
