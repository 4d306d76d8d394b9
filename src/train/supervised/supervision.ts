import { fail, misuse, UserError } from "../../core/errors.js";
import { Rng } from "../../core/rng.js";
import type { SupervisedExample } from "../../diffusion/examples.js";
import type { Policy } from "../../engine/policy.js";
import type { Demonstration, Environment, EnvironmentTask } from "../../env/environment.js";
import { playFixed } from "../play-fixed.js";

/** Converts a demonstration to an example. @throws UserError that names it where it does not fit the canvas. */
function supervisedExample(demonstration: Demonstration, policy: Pick<Policy, "exampleOf">): SupervisedExample {
  try {
    return policy.exampleOf(demonstration);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { hint, exitCode } = error;
    fail(`The task ${demonstration.id}: ${error.message}`, { ...(hint === undefined ? {} : { hint }), exitCode });
  }
}

/**
 * Returns the examples of every task with a perfect policy's answers, one per turn.
 * @param onEpisode called after each episode that was played for it.
 * @throws UserError where the environment has no demonstrations, or one does not fit.
 */
export async function supervisedExamples(
  tasks: readonly EnvironmentTask[],
  environment: Environment,
  policy: Policy,
  onEpisode?: (done: number, all: number) => void,
): Promise<SupervisedExample[]> {
  const shown = await demonstrationsOf(environment, tasks, onEpisode);
  return shown.map((demonstration) => supervisedExample(demonstration, policy));
}

/** Weight of the EOS tokens that fill a canvas behind the first one. */
export const EOS_FILL_WEIGHT = 0.1;

/** Attempts to draw a synthetic task that is not too long. */
const DRAWS = 50;

/**
 * Draws a batch of supervised training: examples of the tasks, and a share `augment` of synthetic ones (random titles
 * and labels, or recombined fields of the tasks), which generalise the skill to unseen forms.
 */
export function supervisedBatch(
  examples: readonly SupervisedExample[],
  environment: Environment,
  policy: Policy,
  options: { readonly size: number; readonly augment: number },
  rng: Rng,
): SupervisedExample[] {
  const synthetic = (draws = 0): SupervisedExample => {
    const drawn = environment.syntheticDemonstration?.(rng);
    if (drawn === undefined)
      misuse(`${environment.name} has no synthetic tasks.`, { hint: "Set objective.augment=0." });
    try {
      return supervisedExample(drawn, policy);
    } catch (error) {
      if (draws === DRAWS) throw error;
      return synthetic(draws + 1);
    }
  };
  return Array.from({ length: options.size }, () =>
    rng.uniform() < options.augment ? synthetic() : rng.pick(examples),
  );
}

/**
 * Returns the observations and answers of a perfect policy. An environment that knows its pages without playing
 * provides them; elsewhere its oracle plays every task, and each turn of a successful episode is an example.
 * @param onEpisode called after each played episode.
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
      const { turns, outcome } = await playFixed(environment, task, act);
      onEpisode?.(++done, tasks.length);
      return outcome.success ? turns.map((turn): Demonstration => ({ id: task.id, ...turn })) : [];
    }),
  );
  const turns = episodes.flat();
  if (turns.length > 0) return turns;
  fail(`The oracle of ${environment.name} succeeded in none of ${tasks.length} episodes.`, {
    hint: "run `refusion-train doctor --config FILE`, and `refusion-eval --policy oracle` to see why",
  });
}
