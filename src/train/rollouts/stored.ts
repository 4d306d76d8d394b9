import { configDifferences, loadConfig, type RunConfig } from "../../config/config.js";
import { fail, misuse } from "../../core/errors.js";
import { sha256, sha256File } from "../../core/files.js";
import type { Trajectory } from "../../diffusion/trajectory.js";
import type { Policy } from "../../engine/policy.js";
import type { Environment } from "../../env/environment.js";
import { tasksOf } from "../../env/open.js";
import { modelHash } from "../../nn/model.js";
import { type RolloutRecord, readRollouts } from "../../runs/rollout-record.js";
import { RunDirectory } from "../../runs/run-directory.js";
import type { Sampled } from "./groups.js";
import type { GroupSource, StepGroups } from "./step-groups.js";

const EDITED = "Record the rollouts again; edited ones teach what never happened.";

/** The rollouts of another run, step by step: rewards as stored, advantages by this run's objective. */
export class StoredGroups implements GroupSource {
  /** There is no state: step n of this run is step n of the other one. */
  readonly drawn = 0;

  constructor(
    private readonly directory: Pick<RunDirectory, "rollouts">,
    private readonly policy: Pick<Policy, "sampler" | "options">,
    private readonly parse: (data: unknown, where: string) => Trajectory,
    private readonly trainTasks: ReadonlySet<string>,
    private readonly rewardRange: Environment["rewardRange"],
    /** Hash of all files that the run reads. */
    readonly hash: string,
  ) {}

  async collect(step: number): Promise<StepGroups> {
    const began = performance.now();
    const path = this.directory.rollouts(step);
    const groups = new Map<number, Sampled[]>();
    for (const [i, record] of readRollouts(path).entries()) {
      const sampled = this.read(record, `${path}, line ${i + 1}`);
      const group = groups.get(record.group) ?? [];
      if (group[0] !== undefined && group[0].record.task_id !== record.task_id)
        fail(
          `${path}, line ${i + 1}: group ${record.group} is of ${group[0].record.task_id}, not of ${record.task_id}.`,
          { hint: EDITED },
        );
      groups.set(record.group, [...group, sampled]);
    }
    if (groups.size === 0) fail(`${path} holds no rollout.`);
    return {
      groups: [...groups.values()],
      generating: 0,
      episodes: 0,
      rollout: (performance.now() - began) / 1000,
    };
  }

  /** Checks sizes: graphs are built for this config's, and the sampler cannot have drawn others. @throws UserError */
  private checkSizes(data: unknown, where: string): void {
    const { prompt, responseLength } = (data ?? {}) as { prompt?: unknown; responseLength?: unknown };
    const { promptLength: most, responseLength: canvas } = this.policy.options;
    if (this.policy.sampler.policy.length === undefined) return;
    if (Array.isArray(prompt) && prompt.length > most)
      fail(`${where}: a prompt of ${prompt.length} tokens; sampler.prompt_length is ${most}.`, { hint: EDITED });
    if (responseLength !== canvas)
      fail(`${where}: responseLength is ${responseLength}; sampler.response_length is ${canvas}.`, { hint: EDITED });
  }

  private read(record: RolloutRecord, where: string): Sampled {
    if (!this.trainTasks.has(record.task_id))
      fail(`${where}: ${record.task_id} is no training task of this config's site.`, {
        hint: "Use the site section of the run that recorded the rollouts.",
      });
    const [least, most] = this.rewardRange ?? [-Infinity, Infinity];
    if (record.reward !== null && (record.reward < least || record.reward > most))
      fail(`${where}: the reward ${record.reward} is none of this environment's: ${least} to ${most}.`, {
        hint: EDITED,
      });
    if (record.reward !== null && record.turns.length === 0)
      fail(`${where}: it has a reward, and no turn that earned it.`, { hint: EDITED });
    return {
      record,
      trajectories: record.turns.map((turn) => {
        this.checkSizes(turn.trajectory, where);
        return this.parse(turn.trajectory, where);
      }),
    };
  }
}

/** Returns the settings that determine an environment's rewards, as far as the config has them. */
function scoringOf(config: RunConfig): { environment: string; reward?: unknown } {
  return {
    environment: config.environment.kind,
    ...("reward" in config ? { reward: (config as { reward?: unknown }).reward } : {}),
  };
}

/**
 * Opens the rollouts of a run for training: its model, sampler and reward must be this config's.
 * @param site the environment whose tasks and range of rewards the rollouts must match.
 * @param credit assigns credit to a group; the objective may refuse.
 * @throws UserError where they differ, where fewer steps are stored than the config trains, or a file is damaged.
 */
export async function openStored(
  dir: string,
  config: RunConfig,
  { model, sampler, options }: Pick<Policy, "model" | "sampler" | "options">,
  site: Pick<Environment, "name" | "rewardRange" | "tasks">,
  credit: (group: readonly Sampled[]) => unknown,
): Promise<StoredGroups> {
  const directory = RunDirectory.open(dir);
  const environment = directory.readEnvironment();
  const stored = await loadConfig(directory.config, { command: environment.command });
  const relevant = (of: RunConfig): unknown => ({ sampler: of.sampler, ...scoringOf(of) });
  const changed = configDifferences(
    { model: environment.hashes.model, ...(relevant(stored) as object) },
    { model: await modelHash(model.dir), ...(relevant(config) as object) },
  );
  if (changed.length > 0)
    misuse(
      `--rollouts: ${dir} was recorded with other settings than this config's (recorded -> config):\n${changed.map((c) => `  ${c}`).join("\n")}`,
      { hint: "Train with the model, sampler and reward of that run." },
    );
  const { steps } = config.training;
  const available = new Set(directory.rolloutSteps());
  const wanted: number[] = [];
  while (wanted.length < steps && available.has(wanted.length + 1)) wanted.push(wanted.length + 1);
  if (wanted.length < steps) {
    const missing = wanted.length + 1;
    misuse(
      `--rollouts: training.steps = ${steps}, but ${dir} has no rollouts of step ${missing}; recorded rollouts are used once.`,
      { hint: missing === 1 ? "Give a run that was trained with rollouts." : `Set training.steps=${missing - 1}.` },
    );
  }
  const parse = (data: unknown, where: string): Trajectory => sampler.parse(data, where, options.model);
  const hashes = await Promise.all(wanted.map((step) => sha256File(directory.rollouts(step))));
  const hash = sha256(hashes.join("\n"));
  const trainTasks = new Set(tasksOf(site, "train").map(({ id }) => id));
  const groups = new StoredGroups(directory, { sampler, options }, parse, trainTasks, site.rewardRange, hash);
  // a fault of the last file must be reported before the first step
  for (const step of wanted) (await groups.collect(step)).groups.forEach(credit);
  return groups;
}
