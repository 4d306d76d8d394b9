import { misuse } from "../../core/errors.js";
import type { Policy } from "../../engine/policy.js";
import type { Environment, EpisodeOutcome, PlayedTogether } from "../../env/environment.js";
import type { Rollout } from "./collect.js";

/**
 * Rewards of the intermediate drafts of each episode's turns: the response as it would stand after each of its steps,
 * played in the place of the response, with the other turns as they were. A draft whose episode faults earns what the
 * whole response did.
 * @returns one list a turn, for each rollout.
 * @throws UserError where the sampler cannot say what a response looked like on the way.
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
