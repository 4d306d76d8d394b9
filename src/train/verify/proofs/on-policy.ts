import type { Trajectory } from "../../../diffusion/trajectory.js";
import type { TermBatch } from "../../../rl/objective.js";
import { packedTerms } from "../../../rl/terms.js";
import type { Policy } from "../../policy.js";
import { type Measurement, type Proof, takePrompts, type VerifyContext } from "../proof.js";

const ROLLOUTS = 8;
const ROLLOUTS_BY_ROUND = 3;
const LIMIT = 1e-5;

/**
 * Rollouts of the config's sampler, scored again by eval_model: all rounds packed in one sequence, and round by round.
 * Both must give the log-probabilities that were recorded, so that the ratio of a round is 1 before any update.
 */
export async function measureOnPolicy(
  context: VerifyContext,
  rollout: Policy["sampler"]["rollout"] = context.policy.sampler.rollout,
): Promise<Measurement[]> {
  const { engine, sampler, options } = context.policy;
  const { tokens } = engine;
  const shapes = sampler.shapes(options);
  const prompts = takePrompts(context, ROLLOUTS);
  const rngs = prompts.map((_, i) => context.rng(`on-policy/${i}`));
  const trajectories = await rollout(engine, prompts, options, rngs);

  const packed = sampler.pack(trajectories, {
    tokens,
    batch: ROLLOUTS,
    rounds: shapes.rounds,
    reveals: shapes.reveals,
  });
  const inOne = await replay(
    engine,
    packedTerms(packed, { batch: ROLLOUTS, canvas: options.responseLength, rounds: shapes.rounds }, "token"),
  );
  const terms = trajectories.reduce((n, t) => n + t.response.length, 0);
  let byRound = 0;
  for (const trajectory of trajectories.slice(0, ROLLOUTS_BY_ROUND))
    byRound = Math.max(byRound, ...(await replayRounds(context.policy, trajectory)));
  return [
    {
      name: "replay, all rounds in one pass",
      measured: Math.max(...inOne),
      limit: LIMIT,
      detail: `largest |log p - recorded| of ${terms} tokens`,
    },
    {
      name: "replay, round by round",
      measured: byRound,
      limit: LIMIT,
      detail: `the same of ${ROLLOUTS_BY_ROUND} rollouts`,
    },
    {
      name: "ratio of a token",
      measured: Math.max(...inOne.map((d) => Math.expm1(d))),
      limit: LIMIT,
      detail: "largest |exp(l - l_old) - 1|",
    },
  ];
}

/** |log p - recorded| of every real term; a segment a term. */
async function replay(engine: Policy["engine"], batch: TermBatch): Promise<number[]> {
  const { logProbs } = await engine.score(batch, "policy");
  const recorded = batch.recorded as Float32Array;
  return [...logProbs].flatMap((logProb, r) =>
    batch.coefficient[r] === 1 ? [Math.abs(logProb - (recorded[r] as number))] : [],
  );
}

async function replayRounds({ engine, sampler, options }: Policy, trajectory: Trajectory): Promise<number[]> {
  const { rounds, reveals, length } = sampler.shapes(options);
  const packed = sampler.unpack(trajectory, { tokens: engine.tokens, batch: rounds, length, rounds: 1, reveals });
  return replay(engine, packedTerms(packed, { batch: rounds, canvas: reveals, rounds: 1 }, "token"));
}

export const proof: Proof = {
  claim: "a rollout scored again gives its own log-probabilities",
  run: (context) => measureOnPolicy(context),
};
