import type { RunConfig } from "../../config/config.js";
import type { Policy } from "../../engine/policy.js";
import type { Environment, EnvironmentTask } from "../../env/environment.js";

/** Tokens that a task takes: what is seen first, and what a perfect policy answers with EOS; 0 where it is not known. */
export function taskLength(
  task: EnvironmentTask,
  environment: Environment,
  policy: Policy,
): { prompt: number; response: number } {
  const { length } = policy.sampler.policy;
  const observation = environment.firstObservation?.(task);
  const prompt = observation === undefined ? 0 : (length?.(policy.startOf(observation)) ?? 0);
  const [demonstration] = environment.demonstrations?.([task]) ?? [];
  const text = demonstration?.action.text;
  return { prompt, response: text === undefined ? 0 : (policy.model.tokenizer?.encode(text).length ?? 0) + 1 };
}

/**
 * With `training.skip_long` an environment without the tasks whose prompt or answer is longer than the sampler allows;
 * else the environment itself.
 * @param note is told how many of each split were left out.
 */
export function withoutLongTasks(
  environment: Environment,
  config: RunConfig,
  policy: Policy,
  note: (text: string) => void,
): Environment {
  if (!config.training.skip_long) return environment;
  const { promptLength, responseLength } = policy.options;
  const tasks = environment.tasks.filter((task) => {
    const { prompt, response } = taskLength(task, environment, policy);
    return prompt <= promptLength && response <= responseLength;
  });
  for (const split of new Set(environment.tasks.map((task) => task.split))) {
    const [all, kept] = [environment.tasks, tasks].map((some) => some.filter((task) => task.split === split).length);
    if (all !== kept)
      note(
        `${split}: ${Number(all) - Number(kept)} of ${all} tasks are left out: prompt above ${promptLength} tokens or answer above ${responseLength}`,
      );
  }
  // the environment in all else
  return Object.create(environment, { tasks: { value: tasks } }) as Environment;
}
