import type { RunConfig } from "../config/config.js";
import { UserError } from "../core/errors.js";
import { loadFolder } from "../core/registry.js";
import { Rng } from "../core/rng.js";
import { type Episode, EpisodeRunner } from "../env/browser/episode.js";
import type { RunningSite, SiteKind, Split, Task } from "../env/site.js";

/** The site of a run, up, with its tasks by split, and the browser that acts on it. */
export interface Environment {
  readonly site: RunningSite;
  /** The browser; started at first use, since supervised training needs none. */
  runner(): Promise<EpisodeRunner>;
  /** Whether the browser was started. */
  readonly started: boolean;
  tasks(split: TaskSet): readonly Task[];
  /** Ends browser and server. */
  close(): Promise<void>;
}

/** `all`: the tasks of every split together. */
export type TaskSet = Split | "all";

/** @param note gets what the site wants its user to know; on stderr by default. */
export async function openEnvironment(
  config: RunConfig,
  note: (text: string) => void = (text) => process.stderr.write(`${text}\n`),
): Promise<Environment> {
  const sites = await loadFolder<SiteKind>(new URL("../env/sites/", import.meta.url), "site");
  const kind = sites.get(config.site.kind);
  if (kind === undefined)
    throw new UserError(`Unknown site ${config.site.kind}; known: ${[...sites.keys()].join(", ")}.`, { exitCode: 2 });
  const { kind: _, ...options } = config.site;
  const site = await kind.start(kind.schema.parse(options));
  for (const text of site.notes ?? []) note(text);
  const bySplit = new Map<Split, Task[]>();
  for (const task of site.tasks()) bySplit.set(task.split, [...(bySplit.get(task.split) ?? []), task]);
  let opened: Promise<EpisodeRunner> | undefined;
  return {
    site,
    runner: () => {
      opened ??= EpisodeRunner.open({
        site,
        headless: config.browser.headless,
        contexts: config.browser.contexts,
        actionTimeoutMs: config.browser.action_timeout_s * 1000,
        episodeTimeoutMs: config.browser.rollout_timeout_s * 1000,
        uploads: config.browser.uploads,
      });
      return opened;
    },
    get started() {
      return opened !== undefined;
    },
    tasks(split) {
      const tasks = split === "all" ? site.tasks() : bySplit.get(split);
      if (tasks === undefined || tasks.length === 0) {
        throw new UserError(
          `The site ${site.name} has no tasks in the split ${split}; it has ${[...bySplit].map(([s, t]) => `${s} (${t.length})`).join(", ") || "none at all"}.`,
          { hint: missingSplitHint(split), exitCode: 2 },
        );
      }
      return tasks;
    },
    close: async () => {
      await (await opened)?.close();
      await site.stop();
    },
  };
}

function missingSplitHint(split: TaskSet): string {
  if (split === "train") return "give the site tasks to train on (its section `site`, or its tasks file)";
  const during = split === "val" ? ", or turn evaluations during training off with evaluation.every=0" : "";
  return `leave it out of evaluation.splits (or --split)${during}; or give the site tasks of that split`;
}

/** The reward that a config asks for. */
export function rewardOf(episode: Episode, kind: RunConfig["reward"]): number {
  return kind === "documents" ? episode.documentsReward : episode.reward;
}

/** The same `count` tasks for every run of one seed: shuffled, then cycled where more episodes than tasks are asked for. */
export function evaluationTasks(tasks: readonly Task[], count: number, seed: number, split: string): Task[] {
  const order = Rng.named(seed, `evaluation/${split}`).shuffle(tasks);
  return Array.from({ length: count }, (_, i) => order[i % order.length] as Task);
}
