/**
 * MDPO, masked diffusion policy optimisation (arXiv 2508.13148): scores the intermediate drafts of a response too, and
 * credits each step with its own improvement and with the later drafts.
 *
 *   a_t  = (r_t - r_{t-1} + 1) + mean of r_{t'} over t' > t        r_t: reward of the draft after step t, r_{-1} = 0
 *   A_t  = (a_t - mean) / (std + 1e-8) over the group's episodes at step t
 *   loss = mean over g, mean over t, mean over the tokens revealed in step t of
 *          max(-A_t rho, -A_t clip(rho, 1 - eps, 1 + eps)) + beta k3
 *
 * The paper weights a step by L / (tokens newly revealed) and sums its tokens, which is the mean over them. The last
 * draft is the response itself. In each response the K steps of largest |A_t| have credit; the others enter the mean
 * with 0 and the penalty; an episode without credit in any step is left out. The official code differs: it takes the
 * same K steps for the whole group, and scores every masked position of a step; here only the drawn tokens are scored,
 * whose ratio is the policy's own. Running confidence re-masking, the paper's decoder, is not included.
 */
import { z } from "zod";
import { misuse } from "../../../core/errors.js";
import { mean, std } from "../../../core/statistics.js";
import { clippedObjective, clippedOptions } from "../../../rl/clipped.js";
import type { GroupEpisode, TurnCredit } from "../../../rl/credit.js";
import { meanOfRounds } from "../../../rl/layouts.js";
import type { Objective } from "../../../rl/objective.js";

// credit is per step, normalised over the same step of the same turn
const { advantage: _, turn_credit: _turn, discount: _discount, ...clipped } = clippedOptions;

const schema = z.strictObject({
  ...clipped,
  top_steps: z.int().min(1).default(8).describe("K: steps of a response that are trained, those of largest |A_t|"),
});

/** Returns the gain of each step of a turn: its own improvement, and the mean reward of the later drafts. */
export function stepGains(rewards: readonly number[]): number[] {
  return rewards.map((reward, t) => {
    const later = rewards.slice(t + 1);
    const future = later.length === 0 ? 0 : mean(later);
    return reward - (rewards[t - 1] ?? 0) + 1 + future;
  });
}

/** Credits each step of an episode with its gain. */
export function stepCredit(
  group: readonly GroupEpisode[],
  { top_steps: top, adv_clip_max: most }: Pick<z.infer<typeof schema>, "top_steps" | "adv_clip_max">,
): (readonly TurnCredit[] | null)[] {
  const gains = group.map(({ reward, turns }) =>
    reward === null
      ? null
      : turns.map(({ drafts }) => {
          if (drafts === undefined)
            misuse("mdpo learns from the rewards of drafts, which recorded rollouts do not hold.", {
              hint: "Leave out --rollouts, or use another objective.",
            });
          return stepGains(drafts);
        }),
  );
  /** Normalises over all episodes at one step of one turn. */
  const normalise = (turn: number, t: number): ((gain: number) => number) => {
    const all = gains.flatMap((episode) => episode?.[turn]?.[t] ?? []);
    const [middle, deviation] = [mean(all), all.length < 2 ? 0 : std(all)];
    return deviation < 1e-6 ? () => 0 : (gain) => Math.max(-most, Math.min(most, (gain - middle) / (deviation + 1e-8)));
  };
  return gains.map((episode) => {
    if (episode === null) return null;
    const credit = episode.map((turn, n) => {
      const all = turn.map((gain, t) => normalise(n, t)(gain));
      const kept = new Set(
        [...all.keys()].sort((a, b) => Math.abs(all[b] as number) - Math.abs(all[a] as number)).slice(0, top),
      );
      return all.map((a, t) => (kept.has(t) ? a : 0));
    });
    return credit.every((turn) => turn.every((a) => a === 0)) ? null : credit;
  });
}

export const objective: Objective<z.infer<typeof schema>> = {
  ...clippedObjective("steps"),
  name: "mdpo",
  description: "clipped ratio per token with credit a step, from the rewards of intermediate drafts",
  schema,
  needs: (o) => ({ reference: o.kl_coeff > 0, drafts: true }),
  credit: stepCredit,
  layout: (trajectories, _, context) => meanOfRounds(context.stepTerms(trajectories, { level: "token" })),
};
