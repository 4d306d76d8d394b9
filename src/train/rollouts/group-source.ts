import { Rng } from "../../core/rng.js";
import type { Policy } from "../../engine/policy.js";
import type { EnvironmentTask } from "../../env/environment.js";
import { tasksOf } from "../../env/open.js";
import type { TurnCredit } from "../../rl/credit.js";
import type { Objective } from "../../rl/objective.js";
import type { RolloutRecord } from "../../runs/rollout-record.js";
import type { StepContext } from "../context.js";
import type { Collect, Rollout, RolloutTimes } from "./collect.js";
import { Curriculum, type CurriculumState } from "./curriculum.js";
import { playDrafts } from "./drafts.js";
import { episodesOf, type Sampled, TaskCursor } from "./groups.js";
import type { PlayedSource, StepGroups } from "./step-groups.js";

/** Further tasks that dynamic sampling may draw for each one without signal. */
const REDRAW_LIMIT = 3;

/** Returns the objective's credit of a group's episodes, [E][T] one per turn; null for an episode that is left out. */
export function creditOf(
  { policy, objective, options }: CreditContext,
  rollouts: readonly Sampled[],
): readonly (readonly TurnCredit[] | null)[] {
  const offsets = objective.needs(options).parts ? policy.offsetsOf : undefined;
  const episodes = episodesOf(rollouts, (trajectory) => policy.sampler.steps(trajectory), offsets);
  return objective.credit(episodes, options);
}

interface CreditContext {
  readonly policy: Pick<Policy, "sampler" | "offsetsOf">;
  readonly objective: Objective;
  /** The objective's own section of the config. */
  readonly options: unknown;
}

type OnEpisode = (done: number, all: number, rollout: Rollout) => void;
type GroupContext = StepContext & { readonly collect?: Collect };

/** Draws tasks and plays a group for each; groups without signal are drawn again where dynamic sampling is on. */
export class PlayedGroups implements PlayedSource {
  private readonly cursor: TaskCursor<EnvironmentTask>;
  private readonly tasks: Curriculum;

  constructor(
    private readonly context: StepContext,
    state: { readonly cursor?: number | undefined; readonly curriculum?: CurriculumState | undefined },
    private readonly onEpisode: OnEpisode,
  ) {
    const { seed, training, executor } = context;
    const tasks = tasksOf(executor.environment, "train");
    this.cursor = new TaskCursor(tasks, (epoch) => Rng.named(seed, `tasks/${epoch}`), state.cursor ?? 0);
    this.tasks = new Curriculum(training.curriculum, seed, state.curriculum);
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

  /** @param collect plays with another policy than the present one. */
  async collect(step: number, collect = this.context.executor.collect): Promise<StepGroups> {
    const { prompts_per_step: wanted, dynamic_sampling: redraw } = this.context.training;
    const began = performance.now();
    let [generating, episodes, withSignal] = [0, 0, 0];
    const groups: Sampled[][] = [];
    for (let attempt = 0; attempt <= (redraw ? REDRAW_LIMIT : 0) && withSignal < wanted; attempt++) {
      const tasks = Array.from({ length: wanted - withSignal }, () => this.nextTask());
      const place = { step, group: groups.length, stream: `rollout/${step}/${attempt}` };
      const played = await playGroups({ ...this.context, collect }, tasks, { ...place, onEpisode: this.onEpisode });
      generating += played.times.generating;
      episodes += played.times.episodes;
      for (const [i, group] of played.groups.entries()) {
        groups.push(group);
        if (redraw && creditOf(this.context, group).some((credit) => credit !== null)) withSignal++;
        this.tasks.note(
          tasks[i] as EnvironmentTask,
          group.flatMap(({ record }) => (record.reward === null ? [] : [record.success])),
        );
      }
    }
    return { groups, generating, episodes, rollout: (performance.now() - began) / 1000 };
  }
}

/**
 * Plays a group of episodes of each task, and the drafts of their turns where the objective learns from them.
 * @param place of the first group, and the name from which the stream of each episode is derived.
 * @returns the groups [G][E], and their rollouts [G E] in order.
 */
export async function playGroups(
  { policy, objective, options, seed, training, executor, collect = executor.collect }: GroupContext,
  tasks: readonly EnvironmentTask[],
  place: { readonly step: number; readonly group: number; readonly stream: string; readonly onEpisode?: OnEpisode },
): Promise<{ groups: Sampled[][]; rollouts: readonly Rollout[]; times: RolloutTimes }> {
  const { group_size: size, rollout_batch: batch } = training;
  const each = tasks.flatMap((task) => Array.from({ length: size }, () => task));
  const { rollouts, times } = await collect({
    tasks: each,
    seed,
    streams: each.map((_, i) => `${place.stream}/${i}`),
    decoding: "training",
    batch,
    onEpisode: (done, rollout) => place.onEpisode?.(done, each.length, rollout),
  });
  const drafts = objective.needs(options).drafts ? await playDrafts(policy, executor.environment, rollouts) : undefined;
  const sampled = rollouts.map((rollout, i): Sampled => {
    const scored = drafts?.[i];
    const at = { step: place.step, group: place.group + Math.floor(i / size), rollout: i % size };
    return {
      trajectories: rollout.turns.map((turn) => turn.trajectory),
      record: recordOf(rollout, at, policy),
      ...(scored === undefined ? {} : { drafts: scored }),
    };
  });
  return { groups: tasks.map((_, g) => sampled.slice(g * size, (g + 1) * size)), rollouts, times };
}

/** Returns one episode's record for the rollout file, with whole trajectories, for use by other objectives. */
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
    ...(outcome.har === undefined ? {} : { har: outcome.har }),
  };
}
