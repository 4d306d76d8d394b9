import { delegate } from "../../core/delegate.js";
import { fail, misuse } from "../../core/errors.js";
import { sha256 } from "../../core/files.js";
import type { Environment, EnvironmentTask } from "../../env/environment.js";
import { type RolloutRecord, readRollouts } from "../../runs/rollout-record.js";
import { RunDirectory } from "../../runs/run-directory.js";

/** An environment whose training tasks have values that another run found. */
export interface Answered {
  readonly environment: Environment;
  /** Hash of the values. */
  readonly hash: string;
}

/**
 * Gives the training tasks the values that a run found out from the site: of each field the one of an accepted form,
 * else the first that was not refused (rejection sampling: RAFT, Dong et al. 2023, arXiv 2304.06767; there of whole
 * responses). A task with values of its own keeps them; one with a field that no rollout had right is left out.
 * @param note receives how many tasks have all their values.
 * @throws UserError where none has, or every task has values of its own.
 */
export function answeredBy(run: string, environment: Environment, note: (text: string) => void): Answered {
  const directory = RunDirectory.open(run);
  const found = new Map<string, Map<string, string | undefined>>();
  for (const step of directory.rolloutSteps())
    for (const record of readRollouts(directory.rollouts(step))) {
      const values = found.get(record.task_id) ?? new Map<string, string | undefined>();
      found.set(record.task_id, values);
      addValues(values, record);
    }
  const isAsked = (task: EnvironmentTask): boolean => task.split === "train" && !hasValues(task);
  const tasks = environment.tasks.flatMap((task) => {
    if (!isAsked(task)) return [task];
    const values = [...(found.get(task.id) ?? [])];
    if (values.length === 0 || values.some(([, value]) => value === undefined)) return [];
    return [{ ...task, fields: Object.fromEntries(values) }];
  });
  const asked = environment.tasks.filter(isAsked);
  const known = tasks.length - (environment.tasks.length - asked.length);
  if (asked.length === 0)
    misuse("Every training task has values of its own.", { hint: "sft learns them without --rollouts" });
  const missing = new Map<string, number>();
  for (const [name, value] of asked.flatMap(({ id }) => [...(found.get(id) ?? [])]))
    if (value === undefined) missing.set(name, (missing.get(name) ?? 0) + 1);
  const lacks = [...missing].map(([name, count]) => `${name} of ${count}`).join(", ");
  note(
    `${run}: the site's answers gave all values of ${known} of ${asked.length} training tasks${lacks === "" ? "" : `; not found: ${lacks} (sampler.explore tries more)`}.`,
  );
  if (known === 0)
    fail(`No rollout of ${run} had all fields of a training task right, in this or another answer.`, {
      hint: "Give a run on these tasks whose reward has parts (plan: template), or train it for more steps.",
    });
  return { environment: delegate(environment, { tasks }), hash: sha256(JSON.stringify(tasks)) };
}

/** Tells whether the tasks' file gives values of a task. */
const hasValues = (task: EnvironmentTask & { readonly fields?: object }): boolean =>
  Object.keys(task.fields ?? {}).length > 0;

/** Adds what a rollout's fields tell of their values. */
function addValues(values: Map<string, string | undefined>, { turns, success }: RolloutRecord): void {
  for (const { response, parts = [] } of turns)
    for (const { name, start, end, reward } of parts) {
      const value = reward === 1 ? response.slice(start, end).trim() : undefined;
      // a page may name one wrong field of several: an accepted form is sure of all
      values.set(name, success ? value : (values.get(name) ?? value));
    }
}
