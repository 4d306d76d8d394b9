import { configDifferences, loadConfig, type RunConfig } from "../../config/config.js";
import { UserError } from "../../core/errors.js";
import { sha256, sha256File } from "../../core/files.js";
import type { Trajectory } from "../../diffusion/trajectory.js";
import type { Policy } from "../../engine/policy.js";
import type { Environment } from "../../env/environment.js";
import { modelHash } from "../../nn/model.js";
import type { Objective } from "../../rl/objective.js";
import { type RolloutRecord, readRollouts } from "../../runs/rollout-record.js";
import { RunDirectory } from "../../runs/run-directory.js";
import { type GroupSource, groupFor, type StepGroups } from "./group-source.js";
import type { Group, Sampled } from "./groups.js";

const EDITED = "Record the rollouts again; edited ones teach what never happened.";

/** The rollouts of another run, step by step: rewards as recorded, advantages by this run's objective. */
export class RecordedGroups implements GroupSource {
  /** Recorded steps have no state: step n of this run is step n of the other one. */
  readonly drawn = 0;

  constructor(
    private readonly directory: Pick<RunDirectory, "rollouts">,
    private readonly config: RunConfig,
    private readonly objective: Objective,
    private readonly policy: Pick<Policy, "sampler" | "offsetsOf">,
    private readonly parse: (data: unknown, where: string) => Trajectory,
    private readonly trainTasks: ReadonlySet<string>,
    private readonly rewardRange: Environment["rewardRange"],
    /** Of all the files that the run reads. */
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
        throw new UserError(
          `${path}, line ${i + 1}: group ${record.group} is of ${group[0].record.task_id}, not of ${record.task_id}.`,
          { hint: EDITED },
        );
      groups.set(record.group, [...group, sampled]);
    }
    if (groups.size === 0) throw new UserError(`${path} holds no rollout.`);
    return {
      groups: [...groups.values()].map(
        (rollouts): Group => groupFor(this.config, this.objective, this.policy, rollouts),
      ),
      generating: 0,
      episodes: 0,
      rollout: (performance.now() - began) / 1000,
    };
  }

  private read(record: RolloutRecord, where: string): Sampled {
    if (!this.trainTasks.has(record.task_id)) {
      throw new UserError(`${where}: ${record.task_id} is no training task of this config's site.`, {
        hint: "Use the site section of the run that recorded the rollouts.",
      });
    }
    const [least, most] = this.rewardRange ?? [-Infinity, Infinity];
    if (record.reward !== null && (record.reward < least || record.reward > most))
      throw new UserError(`${where}: the reward ${record.reward} is none of this environment's: ${least} to ${most}.`, {
        hint: EDITED,
      });
    return { record, trajectories: record.turns.map((turn) => this.parse(turn.trajectory, where)) };
  }
}

/** What decides the rewards of an environment, as far as the config says: rewards are taken as recorded. */
function scoringOf(config: RunConfig): { environment: string; reward?: unknown } {
  return {
    environment: config.environment.kind,
    ...("reward" in config ? { reward: (config as { reward?: unknown }).reward } : {}),
  };
}

/**
 * Opens the rollouts of a run for training: its model, sampler and reward must be this config's.
 * @param trainTasks ids that may be trained on.
 * @throws UserError where they differ, where fewer steps are recorded than the config trains, or a file is damaged.
 */
export async function openRecorded(
  dir: string,
  config: RunConfig,
  objective: Objective,
  { model, sampler, options }: Pick<Policy, "model" | "sampler" | "options">,
  trainTasks: ReadonlySet<string>,
  { rewardRange }: Pick<Environment, "rewardRange">,
): Promise<RecordedGroups> {
  const directory = RunDirectory.open(dir);
  const environment = directory.readEnvironment();
  const recorded = await loadConfig(directory.config, { command: environment.command });
  const relevant = (of: RunConfig): unknown => ({ sampler: of.sampler, ...scoringOf(of) });
  const changed = configDifferences(
    { model: environment.hashes.model, ...(relevant(recorded) as object) },
    { model: await modelHash(model.dir), ...(relevant(config) as object) },
  );
  if (changed.length > 0) {
    throw new UserError(
      `--rollouts: ${dir} was recorded with other settings than this config's (recorded -> config):\n${changed.map((c) => `  ${c}`).join("\n")}`,
      { hint: "Train with the model, sampler and reward of that run.", exitCode: 2 },
    );
  }
  const { steps } = config.training;
  const available = new Set(directory.rolloutSteps());
  const wanted: number[] = [];
  while (wanted.length < steps && available.has(wanted.length + 1)) wanted.push(wanted.length + 1);
  if (wanted.length < steps) {
    const missing = wanted.length + 1;
    throw new UserError(
      `--rollouts: training.steps = ${steps}, but ${dir} has no rollouts of step ${missing}; recorded rollouts are used once.`,
      {
        hint: missing === 1 ? "Give a run that was trained with rollouts." : `Set training.steps=${missing - 1}.`,
        exitCode: 2,
      },
    );
  }
  const parse = (data: unknown, where: string): Trajectory => sampler.parse(data, where, options.model);
  const hashes = await Promise.all(wanted.map((step) => sha256File(directory.rollouts(step))));
  const hash = sha256(hashes.join("\n"));
  const groups = new RecordedGroups(directory, config, objective, { sampler }, parse, trainTasks, rewardRange, hash);
  // what is wrong with the last file should be said before the first step
  for (const step of wanted) await groups.collect(step);
  return groups;
}
