import { UserError } from "../core/errors.js";
import type { Rng } from "../core/rng.js";
import type { SupervisedExample } from "../diffusion/supervised.js";
import type { Policy } from "../engine/policy.js";
import type { Demonstration, Environment, EnvironmentTask } from "../env/environment.js";

/** A demonstration as the sampler learns from it: token ids, of a text. @throws UserError where it does not fit the canvas. */
function supervisedExample({ id, observation, action }: Demonstration, policy: Policy): SupervisedExample {
  const { example } = policy.sampler.policy;
  if (example !== undefined) return example({ observation, action });
  const response = policy.model.tokenizer?.encode(action.text ?? "") ?? [];
  const { promptLength, responseLength } = policy.options;
  const prompt = policy.startOf(observation) as readonly number[];
  if (prompt.length > promptLength || response.length + 1 > responseLength) {
    throw new UserError(
      `The task ${id} does not fit: prompt ${prompt.length} of ${promptLength} tokens, response with EOS ${response.length + 1} of ${responseLength}.`,
      { hint: "Raise sampler.prompt_length or sampler.response_length.", exitCode: 2 },
    );
  }
  return { prompt, response };
}

/**
 * Every task with what a perfect policy answers.
 * @throws UserError where the environment has no demonstrations, or one does not fit.
 */
export function supervisedExamples(
  tasks: readonly EnvironmentTask[],
  environment: Environment,
  policy: Policy,
): SupervisedExample[] {
  if (environment.demonstrations === undefined)
    throw new UserError(`${environment.name} has no demonstrations to learn from.`, { exitCode: 2 });
  return environment.demonstrations(tasks).map((demonstration) => supervisedExample(demonstration, policy));
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
      throw new UserError(`${environment.name} has no synthetic tasks.`, {
        hint: "Set objective.augment=0.",
        exitCode: 2,
      });
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
