import { closing } from "../../../core/closing.js";
import { mean } from "../../../core/statistics.js";
import type { Batch } from "../../../diffusion/layout/batch.js";
import type { Policy } from "../../../engine/policy.js";
import { LENGTH_STEP } from "../../../train/update.js";
import { figures, type Measurement, type Proof, stepsOf, takePairs, type VerifyContext } from "../proof.js";
import { trainingLayout } from "../samples.js";

const ROLLOUTS = 8;
const ROLLOUTS_BY_STEP = 3;
const LIMIT = 1e-5;
/** Nats a token between scores and rollouts in another precision, on average; int8 is near .001 on shipped models. */
const LIMIT_OF_PRECISION = 0.1;
/** Limit for steps recorded as one sum: float32 adds up rounding. */
const LIMIT_OF_SUMS = 1e-4;

/**
 * Scores rollouts of the config's sampler again with eval_model: in the layout of a training step (packed in one
 * sequence, prompts read once, where the attention allows it), and step by step as sampled. Both must give the recorded
 * log-probabilities, so that the ratio is 1 before any update.
 */
export async function measureOnPolicy(
  context: VerifyContext,
  rollout: Policy["sampler"]["rollout"] = context.policy.sampler.rollout,
): Promise<Measurement[]> {
  const { engine, sampler, options } = context.policy;
  const prompts = takePairs(context, ROLLOUTS, options, options.promptLength);
  const rngs = prompts.map((_, i) => context.rng(`on-policy/${i}`));
  const trajectories = await rollout(engine, prompts, options, rngs);
  const terms = stepsOf(sampler);
  const { size, share } = await trainingLayout(context, context.policy);
  const sizes = { lengthStep: LENGTH_STEP, batch: size, share };
  const tokens = terms(trajectories.slice(0, size), options, { ...sizes, level: "token" });
  const level = tokens.logProb === undefined ? "step" : "token";
  const layout = { lengthStep: LENGTH_STEP, level } as const;
  const inOne: number[] = [];
  for (let from = 0; from < trajectories.length; from += size)
    inOne.push(...(await replay(engine, terms(trajectories.slice(from, from + size), options, { ...sizes, level }))));
  const byStep: number[] = [];
  for (const trajectory of trajectories.slice(0, ROLLOUTS_BY_STEP)) {
    const alone = terms([trajectory], options, { ...layout, batch: 1, packed: false });
    byStep.push(...(await replay(engine, alone)));
  }
  return [
    ...figures(level === "step" ? LIMIT_OF_SUMS : LIMIT, [
      [
        share ? "replay, in one pass, prompts read once" : "replay, in one pass",
        Math.max(...inOne),
        `largest |log p - recorded| of ${inOne.length} ${level}s`,
      ],
      ["replay, step by step", Math.max(...byStep), `the same of ${ROLLOUTS_BY_STEP} rollouts`],
      [`ratio of a ${level}`, Math.max(...inOne.map(Math.expm1)), "largest |exp(l - l_old) - 1|"],
    ]),
    ...(await measureCoarse(context)),
  ];
}

/** Measures how far rollouts in another precision are from the scores: no fault, and corrected by importance weights. */
async function measureCoarse({ openCoarse, ...context }: VerifyContext): Promise<Measurement[]> {
  if (openCoarse === undefined) return [];
  await using policy = closing(await openCoarse());
  const { engine, sampler, options } = policy;
  const starts = takePairs(context, ROLLOUTS, options, options.promptLength);
  const rngs = starts.map((_, i) => context.rng(`on-policy/${i}`));
  const trajectories = await sampler.rollout(engine, starts, options, rngs);
  const layout = { lengthStep: LENGTH_STEP, level: "token", batch: ROLLOUTS } as const;
  const gaps = await replay(engine, stepsOf(sampler)(trajectories, options, layout));
  const precision = context.config.runtime.rollout_precision;
  const detail = `mean |log p - recorded| of ${gaps.length} tokens, largest ${Math.max(...gaps).toPrecision(2)}; objective.importance_cap corrects for it`;
  return figures(LIMIT_OF_PRECISION, [[`rollouts in ${precision}`, mean(gaps), detail]]);
}

/** Returns |log p - recorded| of every real segment: a token or a step. */
async function replay(engine: Policy["engine"], batch: Batch): Promise<number[]> {
  const { logProb } = await engine.score(batch, "policy");
  const recorded = batch.logProb as Float32Array;
  return [...logProb].flatMap((scored, s) =>
    (batch.owner[s] as number) < 0 ? [] : [Math.abs(scored - (recorded[s] as number))],
  );
}

export const proof: Proof = {
  claim: "a rollout scored again gives its own log-probabilities",
  run: (context) => measureOnPolicy(context),
};
