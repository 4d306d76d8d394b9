import { fail } from "../core/errors.js";
import { refusalOf } from "../diffusion/sampler.js";
import { Canvas } from "../diffusion/template.js";
import type { TokenTrajectory, Trajectory } from "../diffusion/trajectory.js";
import type { Policy } from "../engine/policy.js";
import { LENGTH_STEP, type ScoreAll } from "./update.js";

/** Number of compared trajectories, half of them of another prompt. */
const COMPARED = 4;
/** Largest difference of a step's log-probability relative to its size (at least 1); float32 stays near 3e-5. */
const LIMIT = 1e-2;
/** The same where layers may be computed in 16 bits, and rollouts in 8. */
const LIMIT_ON_DEVICE = 0.3;

/**
 * Scores samples of the present policy in the layout of a step, and compares them with the log-probabilities of
 * the rollout: where they differ, ratios, credit and gradients belong to another policy than the acting one. Samplers
 * that record none are not compared.
 * @param share lets samples of one prompt read it once.
 * @throws UserError that names both.
 */
export async function checkReplay(
  { sampler, options, model, runtime, isExact }: Pick<Policy, "sampler" | "options" | "model" | "runtime" | "isExact">,
  trajectories: readonly Trajectory[],
  score: ScoreAll,
  share = false,
): Promise<void> {
  const some = ofTwoStarts(trajectories);
  if (some.length === 0 || sampler.stepTerms === undefined || refusalOf(sampler, "steps", options) !== undefined)
    return;
  const batch = sampler.stepTerms(some, options, {
    batch: some.length,
    lengthStep: LENGTH_STEP,
    level: "step",
    share,
  });
  const { logProb } = batch;
  if (logProb === undefined) return;
  const [scores] = (await score([batch], "policy")) as [Float32Array];
  const limit = runtime.provider === "cpu" && isExact ? LIMIT : LIMIT_ON_DEVICE;
  for (const [s, b] of batch.owner.entries()) {
    const [sampled, scored] = [logProb[s] as number, scores[s] as number];
    if (b < 0 || Math.abs(sampled - scored) <= limit * Math.max(1, Math.abs(sampled))) continue;
    fail(
      `The rollout recorded the log-probability ${sampled.toPrecision(6)} of a step, and scoring the same step gives ${scored.toPrecision(6)} (limit ${limit} of its size): what is trained is not what acts.`,
      {
        hint: `config.json of ${model.dir} may contradict its graph (attention, rope_theta, layers), or sampler.kv_cache may not fit it: try sampler.kv_cache=false, and \`refusion-train verify\``,
      },
    );
  }
}

/** Selects trajectories of two starts, of one length where there are such: a layout could take one for the other. */
function ofTwoStarts(all: readonly Trajectory[]): Trajectory[] {
  const starts = all.map((trajectory) => {
    const { prompt = [], template } = trajectory as Partial<TokenTrajectory>;
    return [...prompt, ...Canvas.of(template).given.map(([, token]) => token)];
  });
  const rankOf = (start: readonly number[]): number =>
    start.join() === starts[0]?.join() ? 0 : start.length === starts[0]?.length ? 1 : 2;
  const ranked = all.map((trajectory, i) => ({ trajectory, rank: rankOf(starts[i] as number[]) }));
  const others = ranked.filter(({ rank }) => rank > 0).sort((a, b) => a.rank - b.rank);
  const some = others.slice(0, COMPARED / 2);
  const same = ranked.filter(({ rank }) => rank === 0).slice(0, COMPARED - some.length);
  return [...same, ...some].map(({ trajectory }) => trajectory);
}
