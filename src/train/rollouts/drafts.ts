import { misuse } from "../../core/errors.js";
import type { Policy } from "../../engine/policy.js";
import type { Environment, EpisodeOutcome, PlayedTogether } from "../../env/environment.js";
import type { Rollout } from "./collect.js";

/**
 * Computes rewards of the intermediate drafts of each episode's turns: the response after each of its steps is played
 * in place of the final one, with the other turns unchanged. A draft whose episode faults gets the reward of the final
 * response.
 * @returns one list per turn, for each rollout.
 * @throws UserError where the sampler does not record drafts.
 */
export async function playDrafts(
  policy: Pick<Policy, "sampler" | "options" | "actionOf">,
  environment: Environment,
  rollouts: readonly Rollout[],
): Promise<number[][][]> {
  const { drafts } = policy.sampler;
  if (drafts === undefined)
    misuse("The objective learns from intermediate drafts, which this sampler does not have.", {
      hint: "use sampler.kind=unmask, or another objective",
    });
  const together: PlayedTogether = new Map();
  return Promise.all(
    rollouts.map(({ task, turns, outcome }) =>
      Promise.all(
        turns.map((turn, t) =>
          Promise.all(
            drafts(turn.trajectory, policy.options.model).map(async (draft) => {
              let played = 0;
              const act = async (): ReturnType<Parameters<Environment["play"]>[1]> => {
                const now = played++;
                return now === t ? policy.actionOf(draft) : (turns[now] ?? turn).action;
              };
              const { reward }: EpisodeOutcome = await environment.play(task, act, together);
              return reward ?? outcome.reward ?? 0;
            }),
          ),
        ),
      ),
    ),
  );
}
