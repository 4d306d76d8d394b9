import { closing } from "../../../core/closing.js";
import { mean } from "../../../core/statistics.js";
import type { Engine } from "../../../engine/engine.js";
import type { Tensor } from "../../../onnx/types.js";
import type { ScoredBatch } from "../../../train/micro-batch.js";
import { GradientSum, slotRanges, slotsHere } from "../../../train/rollouts/slots.js";
import { inner, moved, only, randomDirection, squared } from "../direction.js";
import { type Measurement, type ObjectiveOnTrial, onePerScoring, type Proof, type VerifyContext } from "../proof.js";
import { drawStep } from "../samples.js";

/** Two micro-batches of the largest size. */
const SAMPLES = 6;
/** A float32 loss has seven digits, of which a difference keeps about four; curvature takes another. */
const LIMIT = 2e-2;
/** Relative change of the loss for which a step is chosen. */
const CHANGE = 3e-3;
/** Longest step, relative to the parameters: a loss may be large where its slope is not, as a squared residual's. */
const LONGEST = 4e-3;
/** Most times that a step is halved where a clip bends the loss on it. */
const HALVINGS = 5;
/** Rounding of a loss, relative to it. */
const ROUNDING = 1e-6;
/** Distance of the policy from the sampling one, so that ratio, clip and penalty all matter. */
const OFF_POLICY = 0.02;
/** Nats below a value where its ratio is far above every clip range, and finite. */
const CLIPPED = 40;

type Gradients = ReadonlyMap<string, Tensor>;

/**
 * Compares training_model's gradient with central differences of its own loss, along the gradient itself (detects a
 * wrong factor or sign, or an extra term) and along random directions of all parameters (detects a missing part).
 * Errors are relative to the average slope along such a direction.
 * @param read returns the gradient.
 */
export async function measureGradients(
  context: VerifyContext,
  read: (engine: Engine) => Promise<Gradients> = (engine) => engine.getGradients(),
): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const trial of onePerScoring(context.objectives)) {
    measurements.push({
      name: `${trial.objective.name}: gradient of the loss`,
      measured: await largestError(context, trial, read),
      limit: LIMIT,
      detail: "largest relative error of directional derivatives, float32",
    });
  }
  return measurements;
}

async function largestError(
  context: VerifyContext,
  trial: ObjectiveOnTrial,
  read: (engine: Engine) => Promise<Gradients>,
): Promise<number> {
  await using policy = closing(await context.open(trial));
  const { engine } = policy;
  const held = trial.objective.held?.(trial.options) ?? [];
  const [shared, opened] = [await engine.getParameters("reference"), await engine.getParameters("policy")];
  const sampled = held.includes("states") ? only(shared, opened) : opened;
  await engine.setParameters("policy", sampled);
  const prepared = await drawStep(context, policy, trial, "gradients", SAMPLES);
  const batches = held.includes("ratio") ? prepared.map(clipped) : prepared;
  const parameters = moved(sampled, randomDirection(sampled, context.rng("gradients/off-policy")), OFF_POLICY);
  await engine.setParameters("policy", parameters);
  const value = await loss(engine, batches);
  const { gradient_slots: slots } = context.config.training;
  const gradients = slots > 1 ? await inSlots(engine, batches, slots) : await read(engine);
  let largest = 0;
  const probes = directions(context, parameters, gradients);
  // a head's slopes may be so large that a fault in the adapter's does not show beside them
  if (shared.size < parameters.size)
    probes.push(...directions(context, only(shared, parameters), only(shared, gradients)));
  for (const { direction, typical } of probes) {
    const epsilon = Math.min(
      (CHANGE * Math.max(Math.abs(value), 0.1)) / Math.max(typical, 1e-30),
      LONGEST * Math.sqrt(inner(parameters, parameters) / inner(direction, direction)),
    );
    const slope = async (step: number): Promise<number> => {
      await engine.setParameters("policy", moved(parameters, direction, step));
      return ((await loss(engine, batches)) - value) / step;
    };
    const claimed = inner(gradients, direction);
    const tolerance = (step: number): number => LIMIT * typical + (ROUNDING * Math.abs(value)) / step;
    const slopes = await slopesAround(slope, epsilon, tolerance);
    largest = Math.max(largest, Math.min(...slopes.map((one) => Math.abs(one - claimed) / typical)));
  }
  return largest;
}

/**
 * Returns the slope at 0, on a step over which it hardly changes, beyond rounding. Where a bend is left on the smallest
 * step, it is that of one of the two sides.
 */
async function slopesAround(
  slope: (step: number) => Promise<number>,
  epsilon: number,
  tolerance: (step: number) => number,
): Promise<number[]> {
  for (let i = 0; ; i++) {
    const step = epsilon / 2 ** i;
    const sides = [await slope(step), await slope(-step)] as const;
    if (Math.abs(sides[0] - sides[1]) <= tolerance(step)) return [mean(sides)];
    if (i === HALVINGS) return [...sides];
  }
}

interface Probe {
  readonly direction: Gradients;
  /** Size of the slope along such a direction: its root mean square where it is random. */
  readonly typical: number;
}

function directions(context: VerifyContext, parameters: Gradients, gradients: Gradients): Probe[] {
  const random = [0, 1].map((i): Probe => {
    const direction = randomDirection(parameters, context.rng(`gradients/${i}`));
    // squares of a normal direction have its variances as mean
    return { direction, typical: Math.sqrt(inner(squared(gradients), squared(direction))) };
  });
  return [{ direction: gradients, typical: inner(gradients, gradients) }, ...random];
}

/** Sums the gradients of slots, as an update of a config with several does. */
async function inSlots(engine: Engine, batches: readonly ScoredBatch[], count: number): Promise<Gradients> {
  const sum = new GradientSum();
  const cut = slotRanges(batches.length, count).map(([from, to]) => batches.slice(from, to));
  for await (const { gradients } of slotsHere(engine)(cut, 1)) sum.add(gradients);
  return sum.rounded();
}

/** Lowers the old values until every ratio is clipped, and constant. */
function clipped(batch: ScoredBatch): ScoredBatch {
  return { ...batch, values: { ...batch.values, old: batch.values.old.map((x) => x - CLIPPED) } };
}

/** Returns the loss of all micro-batches; their gradient is then the engine's accumulated one. */
async function loss(engine: Engine, batches: readonly ScoredBatch[]): Promise<number> {
  engine.discardGradients();
  let total = 0;
  for (const { batch, values } of batches) total += (await engine.accumulate(batch, values)).loss as number;
  return total;
}

export const proof: Proof = {
  claim: "loss gradients agree with finite differences",
  run: (context) => measureGradients(context),
};
