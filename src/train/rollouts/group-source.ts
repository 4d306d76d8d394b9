import type { RunConfig } from "../../config/config.js";
import { Rng } from "../../core/rng.js";
import type { Policy } from "../../engine/policy.js";
import type { Environment, EnvironmentTask } from "../../env/environment.js";
import { tasksOf } from "../../env/open.js";
import type { Tensor } from "../../onnx/types.js";
import type { Objective } from "../../rl/objective.js";
import type { RolloutRecord } from "../../runs/rollout-record.js";
import { type Collect, collectHere, type Rollout } from "./collect.js";
import { Curriculum, type CurriculumState } from "./curriculum.js";
import { playDrafts } from "./drafts.js";
import { type Group, makeGroup, type Sampled, TaskCursor } from "./groups.js";

/** Further tasks that dynamic sampling may draw for each that carried no signal. */
const REDRAW_LIMIT = 3;

/** The groups of a step, and what it took to get them. */
export interface StepGroups {
  readonly groups: readonly Group[];
  /** Seconds in which the model generated. */
  readonly generating: number;
  /** Seconds from the first generated token to the last scored episode. */
  readonly rollout: number;
  /** Episodes that the environment played. */
  readonly episodes: number;
  /** Where an older policy may have sampled them: by how many steps, and which one it was; absent: the present one. */
  readonly sampled?: { readonly lag: number; readonly parameters?: ReadonlyMap<string, Tensor> };
}

/** Where a run's groups come from: its own policy in the environment, or the rollouts of another run. */
export interface GroupSource {
  collect(step: number): Promise<StepGroups>;
  /** Tasks drawn so far: kept in checkpoints, as is {@link curriculum}. */
  readonly drawn: number;
  readonly curriculum?: CurriculumState;
  /** Further policies that a checkpoint of so many steps has to keep, as its groups. */
  kept?(step: number): Record<string, Map<string, Tensor>>;
}

/** A group whose credit the config's objective gives. */
export function groupFor(
  { objective: options }: Pick<RunConfig, "objective">,
  objective: Objective,
  { sampler, offsetsOf }: Pick<Policy, "sampler" | "offsetsOf">,
  rollouts: readonly Sampled[],
): Group {
  return makeGroup(
    rollouts,
    (trajectory) => sampler.steps(trajectory),
    (group) => objective.credit(group, options),
    objective.needs(options).parts ? offsetsOf : undefined,
  );
}

/** Draws tasks and plays a group for each; groups without signal are drawn again where dynamic sampling is on. */
export class PlayedGroups implements GroupSource {
  private readonly cursor: TaskCursor<EnvironmentTask>;
  private readonly tasks: Curriculum;

  constructor(
    private readonly config: RunConfig,
    private readonly objective: Objective,
    private readonly policy: Policy,
    private readonly environment: Environment,
    drawn: number,
    private readonly onEpisode: (done: number, all: number, rollout: Rollout) => void,
    curriculum?: CurriculumState,
    private readonly collectRollouts: Collect = collectHere(policy, environment),
  ) {
    const tasks = tasksOf(environment, "train");
    this.cursor = new TaskCursor(tasks, (epoch) => Rng.named(config.seed, `tasks/${epoch}`), drawn);
    this.tasks = new Curriculum(config.training.curriculum, config.seed, curriculum);
  }

  get drawn(): number {
    return this.cursor.drawn;
  }

  get curriculum(): CurriculumState {
    return this.tasks.state;
  }

  private nextTask(): EnvironmentTask {
    for (;;) {
      const task = this.cursor.next();
      if (this.tasks.plays(task, this.cursor.drawn)) return task;
    }
  }

  /** @param collectRollouts of another policy than the present one. */
  async collect(step: number, collectRollouts = this.collectRollouts): Promise<StepGroups> {
    const { config, objective, policy, environment } = this;
    const { prompts_per_step: wanted, group_size: size, dynamic_sampling: redraw } = config.training;
    const began = performance.now();
    let generating = 0;
    let episodes = 0;
    const groups: Group[] = [];
    for (let attempt = 0; attempt <= (redraw ? REDRAW_LIMIT : 0); attempt++) {
      const missing = wanted - groups.filter((g) => g.signal).length;
      if (missing === 0) break;
      const tasks = Array.from({ length: attempt === 0 ? wanted : missing }, () => this.nextTask());
      const each = tasks.flatMap((task) => Array.from({ length: size }, () => task));
      const { rollouts, times } = await collectRollouts({
        tasks: each,
        seed: config.seed,
        streams: each.map((_, i) => `rollout/${step}/${attempt}/${i}`),
        decoding: "training",
        batch: config.training.rollout_batch,
        onEpisode: (done, rollout) => this.onEpisode(done, each.length, rollout),
      });
      generating += times.generating;
      episodes += times.episodes;
      const drafts = objective.needs(config.objective).drafts
        ? await playDrafts(policy, environment, rollouts)
        : undefined;
      for (let i = 0; i < rollouts.length; i += size) {
        const sampled = rollouts.slice(i, i + size).map((rollout, r): Sampled => {
          const scored = drafts?.[i + r];
          return {
            trajectories: rollout.turns.map((turn) => turn.trajectory),
            record: recordOf(rollout, { step, group: groups.length, rollout: r }, policy),
            ...(scored === undefined ? {} : { drafts: scored }),
          };
        });
        groups.push(groupFor(config, objective, policy, sampled));
        this.tasks.note(
          each[i] as EnvironmentTask,
          sampled.flatMap(({ record }) => (record.reward === null ? [] : [record.success])),
        );
      }
    }
    return { groups, generating, episodes, rollout: (performance.now() - began) / 1000 };
  }
}

/** One episode as the rollout file keeps it. Trajectories are kept whole: other objectives can learn from the file. */
export function recordOf(
  { task, turns, outcome }: Rollout,
  place: { readonly step: number; readonly group: number; readonly rollout: number },
  { sampler }: Pick<Policy, "sampler">,
): RolloutRecord {
  return {
    format: 2,
    ...place,
    task_id: task.id,
    form: task.form,
    reward: outcome.reward,
    success: outcome.success,
    metrics: outcome.reward === null ? null : { ...outcome.metrics },
    advantage: null,
    fault: outcome.fault ?? null,
    tokens: turns.reduce((n, { trajectory }) => n + sampler.policy.units(trajectory), 0),
    turns: turns.map(({ observation, action, trajectory }, t) => ({
      prompt: observation.text ?? "",
      response: action.text ?? "",
      ...(outcome.turnRewards?.[t] === undefined ? {} : { reward: outcome.turnRewards[t] }),
      ...(outcome.answerParts?.[t] === undefined ? {} : { parts: [...outcome.answerParts[t]] }),
      trajectory,
    })),
    detail: outcome.detail,
  };
}
