import { fail, misuse } from "../core/errors.js";
import { loadedModules, loadFolder } from "../core/registry.js";
import { Rng } from "../core/rng.js";
import type { Environment, EnvironmentKind, EnvironmentTask, TaskSet } from "./environment.js";

/** The environments that there are, and the one that a config names by its file. */
export function environmentKinds(named?: string): Promise<Map<string, EnvironmentKind>> {
  return loadFolder<EnvironmentKind>(new URL("./environments/", import.meta.url), "environment", named);
}

/** Opens the environment of a config. @param note gets what its user should know. @throws UserError where it cannot be opened. */
export async function openEnvironment(
  config: { readonly environment: { readonly kind: string } },
  note: (text: string) => void = (text) => process.stderr.write(`${text}\n`),
): Promise<Environment> {
  const { kind } = config.environment;
  const entry = (await environmentKinds(kind)).get(kind);
  if (entry === undefined) misuse(`Unknown environment ${kind}.`);
  const environment = await entry.open(config as unknown as Readonly<Record<string, unknown>>);
  const ids = new Set<string>();
  for (const { id } of environment.tasks) {
    if (ids.has(id)) {
      await environment.close();
      fail(`${environment.name} has two tasks of the id ${id}.`, {
        hint: "an id stands for one task in one split: give every task its own",
      });
    }
    ids.add(id);
  }
  const own = loadedModules()[kind];
  if (own !== undefined && environment.judge === undefined && Object.isExtensible(environment))
    Object.assign(environment, { judge: () => own });
  environment.notes.forEach(note);
  return environment;
}

/** The tasks of a split. @throws UserError where it has none. */
export function tasksOf(environment: Pick<Environment, "name" | "tasks">, split: TaskSet): readonly EnvironmentTask[] {
  const tasks = split === "all" ? environment.tasks : environment.tasks.filter((task) => task.split === split);
  if (tasks.length > 0) return tasks;
  const counts = new Map<string, number>();
  for (const task of environment.tasks) counts.set(task.split, (counts.get(task.split) ?? 0) + 1);
  const there = [...counts].map(([name, count]) => `${name} (${count})`).join(", ") || "none at all";
  misuse(`The site ${environment.name} has no tasks in the split ${split}; it has ${there}.`, {
    hint: missingSplitHint(split),
  });
}

function missingSplitHint(split: TaskSet): string {
  if (split === "train") return "give the site tasks to train on (its section `site`, or its tasks file)";
  const during = split === "val" ? ", or turn evaluations during training off with evaluation.every=0" : "";
  return `leave it out of evaluation.splits (or --split)${during}; or give the site tasks of that split`;
}

/** The same `count` tasks for every run of one seed: shuffled, then cycled where more episodes than tasks are asked for. */
export function evaluationTasks<T>(tasks: readonly T[], count: number, seed: number, split: string): T[] {
  const order = Rng.named(seed, `evaluation/${split}`).shuffle(tasks);
  return Array.from({ length: count }, (_, i) => order[i % order.length] as T);
}
