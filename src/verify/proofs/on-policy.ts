import type { Batch } from "../../diffusion/batch.js";
import type { Policy } from "../../engine/policy.js";
import { figures, type Measurement, type Proof, stepsOf, takeStarts, type VerifyContext } from "../proof.js";

const ROLLOUTS = 8;
const ROLLOUTS_BY_STEP = 3;
const LIMIT = 1e-5;
/** Limit for steps recorded as one sum: float32 adds up rounding. */
const LIMIT_OF_SUMS = 1e-4;

/**
 * Scores rollouts of the config's sampler again with eval_model: as in a training step (packed in one sequence where
 * the attention allows it), and step by step as sampled. Both must give the recorded log-probabilities, so that the
 * ratio is 1 before any update.
 */
export async function measureOnPolicy(
  context: VerifyContext,
  rollout: Policy["sampler"]["rollout"] = context.policy.sampler.rollout,
): Promise<Measurement[]> {
  const { engine, sampler, options } = context.policy;
  const prompts = takeStarts(context, ROLLOUTS, options, options.promptLength);
  const rngs = prompts.map((_, i) => context.rng(`on-policy/${i}`));
  const trajectories = await rollout(engine, prompts, options, rngs);
  const terms = stepsOf(sampler);
  const tokens = terms(trajectories, options, { lengthStep: 32, level: "token", batch: ROLLOUTS });
  const level = tokens.recorded === undefined ? "step" : "token";
  const layout = { lengthStep: 32, level } as const;
  const inOne = await replay(engine, terms(trajectories, options, { ...layout, batch: ROLLOUTS }));
  const byStep: number[] = [];
  for (const trajectory of trajectories.slice(0, ROLLOUTS_BY_STEP)) {
    const alone = terms([trajectory], options, { ...layout, batch: 1, packed: false });
    byStep.push(...(await replay(engine, alone)));
  }
  return figures(level === "step" ? LIMIT_OF_SUMS : LIMIT, [
    ["replay, in one pass", Math.max(...inOne), `largest |log p - recorded| of ${inOne.length} ${level}s`],
    ["replay, step by step", Math.max(...byStep), `the same of ${ROLLOUTS_BY_STEP} rollouts`],
    [`ratio of a ${level}`, Math.max(...inOne.map(Math.expm1)), "largest |exp(l - l_old) - 1|"],
  ]);
}

/** Returns |log p - recorded| of every real segment: a token or a step. */
async function replay(engine: Policy["engine"], batch: Batch): Promise<number[]> {
  const { value } = await engine.score(batch, "policy");
  const recorded = batch.recorded as Float32Array;
  return [...value].flatMap((logProb, s) =>
    (batch.owner[s] as number) < 0 ? [] : [Math.abs(logProb - (recorded[s] as number))],
  );
}

export const proof: Proof = {
  claim: "a rollout scored again gives its own log-probabilities",
  run: (context) => measureOnPolicy(context),
};
