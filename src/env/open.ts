import { z } from "zod";
import { delegate } from "../core/delegate.js";
import { fail, misuse } from "../core/errors.js";
import type { Act } from "../core/interaction.js";
import { loadedModules, type MemberSchemas, method, ownFrame } from "../core/own-module.js";
import { problemsOf } from "../core/problems.js";
import { loadFolder } from "../core/registry.js";
import { Rng } from "../core/rng.js";
import {
  anyReward,
  type Environment,
  type EnvironmentKind,
  type EnvironmentTask,
  SPLITS,
  type TaskSet,
} from "./environment.js";

const outcome = z.looseObject({
  reward: anyReward.nullable(),
  success: z.boolean(),
  turnRewards: z.array(anyReward).optional(),
  metrics: z.record(z.string(), z.number()),
  counts: z.record(z.string(), z.number()).optional(),
  detail: z.looseObject({}).refine(isJson, "expected what JSON can hold"),
});

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

const observation = z.looseObject({
  text: z.string().optional(),
  template: z.looseObject({ parts: z.array(z.unknown()) }).optional(),
  vectors: z.record(z.string(), z.unknown()).optional(),
});

/** Schemas of the members of a user's environment. */
const MEMBERS: MemberSchemas = {
  open: z.promise(
    z.looseObject({
      name: z.string(),
      notes: z.array(z.string()),
      tasks: z.array(z.looseObject({ id: z.string(), split: z.enum(SPLITS), form: z.string() })),
      splitHash: method(z.string()),
      start: method(),
      play: method(z.promise(outcome)),
      firstObservation: method(observation).optional(),
      fixedPolicies: z.record(z.string(), method()),
      close: method(),
    }),
  ),
};

/** Loads the built-in environments, and the one that a config names by its file. */
export function environmentKinds(named?: string): Promise<Map<string, EnvironmentKind>> {
  const folder = new URL("./environments/", import.meta.url);
  return loadFolder<EnvironmentKind>(folder, "environment", named, MEMBERS, ["view", "verdict"]);
}

/** Opens the environment of a config. @param note gets notes for the user. @throws UserError if that fails. */
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
  environment.notes.forEach(note);
  return own === undefined ? environment : shown(environment, own);
}

/** Adds a check of the observations to a user's own environment. @param hash of its module. */
function shown(environment: Environment, hash: string): Environment {
  const play: Environment["play"] = (task, act, together) => {
    const checked: Act = (seen) => {
      const { error } = observation.safeParse(seen);
      if (error === undefined) return act(seen);
      const place = ownFrame(new Error()) ?? environment.name;
      fail(`${place}: the policy was shown what it may not:${problemsOf(error)}`, {
        hint: "show it an observation, as act({ text })",
      });
    };
    return environment.play(task, checked, together);
  };
  const judge = environment.judge ?? (() => hash);
  return delegate(environment, { play, judge });
}

/** Returns the tasks of a split. @throws UserError if there are none. */
export function tasksOf(environment: Pick<Environment, "name" | "tasks">, split: TaskSet): readonly EnvironmentTask[] {
  const tasks = split === "all" ? environment.tasks : environment.tasks.filter((task) => task.split === split);
  if (tasks.length > 0) return tasks;
  const counts = new Map<string, number>();
  for (const task of environment.tasks) counts.set(task.split, (counts.get(task.split) ?? 0) + 1);
  const available = [...counts].map(([name, count]) => `${name} (${count})`).join(", ") || "none at all";
  misuse(`The site ${environment.name} has no tasks in the split ${split}; it has ${available}.`, {
    hint: missingSplitHint(split),
  });
}

function missingSplitHint(split: TaskSet): string {
  if (split === "train") return "give the site tasks to train on (its section `site`, or its tasks file)";
  const during = split === "val" ? ", or turn evaluations during training off with evaluation.every=0" : "";
  return `leave it out of evaluation.splits (or --split)${during}; or give the site tasks of that split`;
}

/** Returns the same `count` tasks for every run of one seed: shuffled, and repeated if there are too few. */
export function evaluationTasks<T>(tasks: readonly T[], count: number, seed: number, split: string): T[] {
  const order = Rng.named(seed, `evaluation/${split}`).shuffle(tasks);
  return Array.from({ length: count }, (_, i) => order[i % order.length] as T);
}
