import type { Act, Action, Observation } from "../core/interaction.js";
import type { Environment, EnvironmentTask, EpisodeOutcome } from "../env/environment.js";

/** Plays an episode with a policy without a model. @returns its observations and actions, turn by turn. */
export async function playFixed(
  environment: Pick<Environment, "play">,
  task: EnvironmentTask,
  act: Act,
): Promise<{ turns: { readonly observation: Observation; readonly action: Action }[]; outcome: EpisodeOutcome }> {
  const turns: { observation: Observation; action: Action }[] = [];
  const noted: Act = async (observation) => {
    const action = await act(observation);
    turns.push({ observation, action });
    return action;
  };
  return { turns, outcome: await environment.play(task, noted, new Map()) };
}
