import type { RunConfig } from "../../config/config.js";
import { delegate } from "../../core/delegate.js";
import { UserError } from "../../core/errors.js";
import type { Policy } from "../../engine/policy.js";
import type { Environment, EnvironmentTask } from "../../env/environment.js";

/** Returns a task's tokens: the first observation, and the canvas or a perfect answer with EOS; 0 where unknown. */
export function taskLength(
  task: EnvironmentTask,
  environment: Environment,
  { sampler, options, model, startOf }: Pick<Policy, "sampler" | "options" | "startOf" | "model">,
): { prompt: number; response: number } {
  const { length, canvas } = sampler.policy;
  const observation = environment.firstObservation?.(task);
  const start = observation === undefined ? undefined : startOf(observation);
  if (start === undefined) return { prompt: 0, response: 0 };
  const prompt = length?.(start) ?? 0;
  const positions = canvas?.(start, options) ?? 0;
  if (positions > 0) return { prompt, response: positions };
  const [demonstration] = environment.demonstrations?.([task]) ?? [];
  const text = demonstration?.action.text;
  return { prompt, response: text === undefined ? 0 : (model.tokenizer?.encode(text).length ?? 0) + 1 };
}

/** Tells whether a task fits the sampler, as far as that is known without playing. */
function fits(task: EnvironmentTask, environment: Environment, policy: Policy): boolean {
  const { prompt, response } = taskLength(task, environment, policy);
  if (prompt > policy.options.promptLength || response > policy.options.responseLength) return false;
  try {
    for (const demonstration of environment.demonstrations?.([task]) ?? []) policy.exampleOf(demonstration);
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

/**
 * With `training.skip_long`, returns the environment without the tasks whose prompt or answer is longer than the
 * sampler allows; else the environment itself.
 * @param note receives the number of skipped tasks of each split.
 */
export function withoutLongTasks(
  environment: Environment,
  config: RunConfig,
  policy: Policy,
  note: (text: string) => void,
): Environment {
  if (!config.training.skip_long) return environment;
  const { promptLength, responseLength } = policy.options;
  const tasks = environment.tasks.filter((task) => fits(task, environment, policy));
  for (const split of new Set(environment.tasks.map((task) => task.split))) {
    const [all, kept] = [environment.tasks, tasks].map((some) => some.filter((task) => task.split === split).length);
    if (all !== kept)
      note(
        `${split}: ${Number(all) - Number(kept)} of ${all} tasks are left out: prompt above ${promptLength} tokens or answer above ${responseLength}`,
      );
  }
  return delegate(environment, { tasks });
}
