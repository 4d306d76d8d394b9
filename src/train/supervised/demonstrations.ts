import { fail, misuse } from "../../core/errors.js";
import { Rng } from "../../core/rng.js";
import type { Demonstration, Environment, EnvironmentTask } from "../../env/environment.js";

/**
 * Gives what a perfect policy sees and answers. An environment that knows its pages without playing writes it down;
 * elsewhere its oracle plays every task, and each turn of the episodes that succeed is an example.
 * @param onEpisode told of each episode that was played.
 * @throws UserError where there is no oracle, or no episode of it succeeds.
 */
export async function demonstrationsOf(
  environment: Environment,
  tasks: readonly EnvironmentTask[],
  onEpisode?: (done: number, all: number) => void,
): Promise<Demonstration[]> {
  if (environment.demonstrations !== undefined) return environment.demonstrations(tasks);
  const { oracle } = environment.fixedPolicies;
  if (oracle === undefined)
    misuse(`${environment.name} has no demonstrations to learn from, and no oracle that plays them.`, {
      hint: "Train by reinforcement, or give the environment `demonstrations` or a fixed policy `oracle`.",
    });
  await environment.start();
  let done = 0;
  const episodes = await Promise.all(
    tasks.map(async (task) => {
      const act = await oracle(task, Rng.named(0, `demonstration/${task.id}`));
      const turns: Demonstration[] = [];
      const outcome = await environment.play(
        task,
        async (observation) => {
          const action = await act(observation);
          turns.push({ id: task.id, observation, action });
          return action;
        },
        new Map(),
      );
      onEpisode?.(++done, tasks.length);
      return outcome.success ? turns : [];
    }),
  );
  const turns = episodes.flat();
  if (turns.length > 0) return turns;
  fail(`The oracle of ${environment.name} succeeded in none of ${tasks.length} episodes.`, {
    hint: "run `refusion-train doctor --config FILE`, and `refusion-eval --policy oracle` to see why",
  });
}
