import { fail, misuse, UserError } from "../../core/errors.js";
import type { Rng } from "../../core/rng.js";
import type { SupervisedExample } from "../../diffusion/supervised.js";
import type { Policy } from "../../engine/policy.js";
import type { Demonstration, Environment, EnvironmentTask } from "../../env/environment.js";
import { demonstrationsOf } from "./demonstrations.js";

/** A demonstration as the sampler learns from it. @throws UserError that names it where it does not fit the canvas. */
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
 * Every task with what a perfect policy answers, a turn an example.
 * @param onEpisode told of each episode that was played for it.
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

/** The share of the tasks, the shortest ones, that a curriculum begins with. */
const FIRST_SHARE = 0.1;

/** The tasks that a step may draw: over the first `steps` they grow from the shortest tenth to all of them. */
export function openExamples(
  examples: readonly SupervisedExample[],
  step: number,
  steps: number,
): readonly SupervisedExample[] {
  const share = steps === 0 ? 1 : FIRST_SHARE + (1 - FIRST_SHARE) * ((step - 1) / steps);
  if (share >= 1) return examples;
  const length = ({ prompt, response }: SupervisedExample): number => prompt.length + response.length;
  const shortest = [...examples].sort((a, b) => length(a) - length(b));
  return shortest.slice(0, Math.max(1, Math.ceil(share * shortest.length)));
}

/** Draws of a synthetic task that came out too long before one is given up on. */
const DRAWS = 50;

/**
 * A batch of supervised training: examples of the tasks, and a share `augment` of synthetic ones (random titles and
 * labels, or fields of the tasks put together anew), which is what carries the skill over to forms never seen.
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
