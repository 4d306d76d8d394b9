import type { RunConfig } from "../config/config.js";
import type { Policy } from "../engine/policy.js";
import { oracleActions } from "../env/forms/oracle.js";
import { renderPlan } from "../env/forms/plan.js";
import type { RunningSite, Task } from "../env/site.js";
import type { Environment, TaskSet } from "./environment.js";

/** Tokens that a task takes: its prompt, and its oracle plan with EOS where the site can tell it without a browser. */
export function taskLength(task: Task, site: RunningSite, policy: Policy): { prompt: number; response: number } {
  const kinds = site.fieldKinds?.(task);
  const plan = kinds === undefined ? [] : policy.model.tokenizer.encode(oraclePlan(task, kinds));
  return { prompt: policy.promptOf(task).length, response: plan.length + 1 };
}

/** The plan that fills in a task as it should be. */
export function oraclePlan(task: Task, kinds: ReturnType<NonNullable<RunningSite["fieldKinds"]>>): string {
  return renderPlan(oracleActions(task.fields, kinds), "compact");
}

/**
 * With `training.skip_long` an environment without the tasks whose prompt or plan is longer than the sampler allows;
 * else the environment itself.
 * @param note is told how many of a split were left out, once.
 */
export function withoutLongTasks(
  environment: Environment,
  config: RunConfig,
  policy: Policy,
  note: (text: string) => void,
): Environment {
  if (!config.training.skip_long) return environment;
  const known = new Map<TaskSet, readonly Task[]>();
  const { promptLength, responseLength } = policy.options;
  const fits = (task: Task): boolean => {
    const { prompt, response } = taskLength(task, environment.site, policy);
    return prompt <= promptLength && response <= responseLength;
  };
  return {
    ...environment,
    get started() {
      return environment.started;
    },
    tasks(split) {
      const before = known.get(split);
      if (before !== undefined) return before;
      const all = environment.tasks(split);
      const kept = all.filter(fits);
      known.set(split, kept);
      if (kept.length < all.length) {
        note(
          `${split}: ${all.length - kept.length} of ${all.length} tasks are left out: prompt above ${promptLength} tokens or plan above ${responseLength}`,
        );
      }
      return kept;
    },
  };
}
