import { closing } from "../../../core/closing.js";
import type { TokenTrajectory, Trajectory } from "../../../diffusion/trajectory.js";
import type { Policy } from "../../../engine/policy.js";
import type { PolicyKey } from "../../../engine/trained-parameters.js";
import type { Sample } from "../../../train/rollouts/groups.js";
import { layOut } from "../../../train/update.js";
import {
  figures,
  type Measurement,
  type ObjectiveOnTrial,
  onePerScoring,
  type Proof,
  smallCanvas,
  takePairs,
  type VerifyContext,
} from "../proof.js";
import { drawSamples, trainingLayout } from "../samples.js";

const SAMPLES = 6;
/** Rollouts that are drawn again, each alone. */
const AGAIN = 2;
/** Of sums over a response: float32 adds them up in another order. */
const LIMIT = 1e-4;

/**
 * Compares what is computed of rollouts together with what is computed of each alone: their draws, and the values of
 * each objective's segments in the layout of a training step (micro-batches, prompts read once). The latter under the
 * policy, and under the reference, whose parameters then are the policy's.
 */
export async function measureLayout(context: VerifyContext): Promise<Measurement[]> {
  const measurements = [await measureDraws(context)];
  for (const trial of onePerScoring(context.objectives)) {
    await using policy = closing(await context.open(trial));
    const samples = await drawSamples(context, policy, "layout", SAMPLES);
    const layout = await trainingLayout(context, policy, trial.objective);
    const inStep = (key: PolicyKey) => valuesOf(policy, trial, layout, samples, key);
    const alone = () => valuesOf(policy, trial, { size: 1, share: false }, samples, "policy");
    const own = differenceOf(await inStep("policy"), await alone());
    const scored = await inStep("reference");
    const [parameters, given] = [
      await policy.engine.getParameters("policy"),
      await policy.engine.getParameters("reference"),
    ];
    await policy.engine.setParameters("policy", new Map([...parameters, ...given]));
    const reference = differenceOf(scored, await alone());
    const of = `${SAMPLES} rollouts in micro-batches of ${layout.size}${layout.share ? ", prompts read once" : ""}`;
    const { name } = trial.objective;
    measurements.push(
      ...figures(LIMIT, [
        [`${name}: values in a training step`, own, `largest relative |value - value alone|, ${of}`],
        [`${name}: values of the reference`, reference, `the same, alone with its parameters as the policy's`],
      ]),
    );
  }
  return measurements;
}

/** Draws rollouts again with the same noise, each alone: where rounding decides between two tokens, one may differ. */
async function measureDraws(context: VerifyContext): Promise<Measurement> {
  const { sampler, engine } = context.policy;
  const options = smallCanvas(context.policy);
  const starts = takePairs(context, SAMPLES, options);
  const draw = (some: readonly number[]): Promise<Trajectory[]> =>
    sampler.rollout(
      engine,
      some.map((i) => starts[i]),
      options,
      some.map((i) => context.rng(`layout/draws/${i}`)),
    );
  const together = await draw([...starts.keys()]);
  let different = 0;
  for (let i = SAMPLES - AGAIN; i < SAMPLES; i++) {
    const [alone] = await draw([i]);
    if (tokensOf(alone) !== tokensOf(together[i])) different++;
  }
  const detail = `rollouts that differ, of ${AGAIN} of a batch of ${SAMPLES}`;
  return { name: "rollouts drawn alone", measured: different, limit: AGAIN - 1, detail };
}

const tokensOf = (trajectory: Trajectory | undefined): string | undefined =>
  (trajectory as Partial<TokenTrajectory> | undefined)?.response?.join();

/** Returns the values of each sample's segments, in order. */
async function valuesOf(
  policy: Policy,
  trial: ObjectiveOnTrial,
  layout: { readonly size: number; readonly share: boolean },
  samples: readonly Sample[],
  key: PolicyKey,
): Promise<ReadonlyMap<Sample, readonly number[]>> {
  const values = new Map<Sample, number[]>();
  const laid = layOut({ ...trial, policy: { ...policy, options: smallCanvas(policy) }, ...layout }, samples, "layout");
  for (const { batch, samples: chunk } of laid) {
    const { logProb } = await policy.engine.score(batch, key);
    batch.owner.forEach((b, s) => {
      const sample = chunk[b];
      if (sample !== undefined) values.set(sample, [...(values.get(sample) ?? []), logProb[s] as number]);
    });
  }
  return values;
}

/** Returns the largest difference relative to a value's size, at least 1; infinite where values are missing. */
function differenceOf(a: Awaited<ReturnType<typeof valuesOf>>, b: Awaited<ReturnType<typeof valuesOf>>): number {
  let largest = 0;
  for (const [sample, wanted] of b) {
    const own = a.get(sample) ?? [];
    if (own.length !== wanted.length) return Number.POSITIVE_INFINITY;
    wanted.forEach((x, i) => {
      largest = Math.max(largest, Math.abs((own[i] as number) - x) / Math.max(1, Math.abs(x)));
    });
  }
  return largest;
}

export const proof: Proof = {
  claim: "the layout of a training step gives the values of each rollout alone",
  run: (context) => measureLayout(context),
};
