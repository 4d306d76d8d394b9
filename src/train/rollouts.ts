import type { RunConfig } from "../config/config.js";
import type { Rng } from "../core/rng.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { Decoding, Policy } from "../engine/policy.js";
import type { Episode, EpisodeRunner } from "../env/browser/episode.js";
import { renderPlan } from "../env/forms/plan.js";
import type { Task } from "../env/site.js";
import type { RolloutRecord } from "../runs/rollout-record.js";
import { rewardOf } from "./environment.js";

/** One response and what became of it. */
export interface Rollout {
  readonly task: Task;
  readonly trajectory: Trajectory;
  readonly plan: string;
  readonly episode: Episode;
}

export interface RolloutTimes {
  /** Seconds in which the model generated. */
  readonly generating: number;
  /** Seconds from the first generated token to the last scored episode. */
  readonly total: number;
  /** Episodes that the browser played. */
  readonly episodes: number;
}

/**
 * Generates a response for every task and plays it in the browser. The browser works on one batch of responses while the
 * model generates the next. Rollouts of one task that came out as the same plan share one episode.
 * @param rngs one stream a task, so that batching does not change the noise.
 */
export async function collectRollouts(
  policy: Pick<Policy, "promptOf" | "textOf"> & Decoding,
  runner: EpisodeRunner,
  tasks: readonly Task[],
  rngs: readonly Rng[],
  options: {
    readonly batch: number;
    readonly temperature?: number;
    readonly onEpisode?: (done: number, rollout: Rollout) => void;
  },
): Promise<{ rollouts: Rollout[]; times: RolloutTimes }> {
  const start = performance.now();
  let generating = 0;
  let done = 0;
  const sampling =
    options.temperature === undefined ? policy.options : { ...policy.options, temperature: options.temperature };
  const playing: Promise<Rollout>[] = [];
  const played = new Map<string, Promise<Episode>>();
  // a task starts from the same fresh page every time, so one plan needs playing once
  const play = (task: Task, plan: string): Promise<Episode> => {
    const key = JSON.stringify([task.id, plan]);
    const known = played.get(key);
    if (known !== undefined) return known;
    const episode = runner.run(task, plan);
    played.set(key, episode);
    return episode;
  };
  for (let from = 0; from < tasks.length; from += options.batch) {
    const chunk = tasks.slice(from, from + options.batch);
    const began = performance.now();
    const trajectories = await policy.sampler.rollout(
      policy.rounds,
      chunk.map((task) => policy.promptOf(task)),
      sampling,
      rngs.slice(from, from + options.batch),
      options.batch,
    );
    generating += performance.now() - began;
    trajectories.forEach((trajectory, i) => {
      const task = chunk[i] as Task;
      const plan = policy.textOf(trajectory);
      const rollout = play(task, plan).then((episode): Rollout => {
        const ended = { task, trajectory, plan, episode };
        options.onEpisode?.(++done, ended);
        return ended;
      });
      // a failure is reported where all are awaited, not as an unhandled rejection while the next batch generates
      rollout.catch(() => undefined);
      playing.push(rollout);
    });
  }
  const rollouts = await Promise.all(playing);
  return {
    rollouts,
    times: { generating: generating / 1000, total: (performance.now() - start) / 1000, episodes: played.size },
  };
}

/** The line of one rollout, its advantage open. The trajectory is kept whole: other objectives can learn from the file. */
export function recordOf(
  { task, trajectory, plan, episode }: Rollout,
  place: { readonly step: number; readonly group: number; readonly rollout: number },
  config: RunConfig,
  policy: Pick<Policy, "promptText">,
): RolloutRecord {
  const faulted = episode.fault !== undefined;
  return {
    format: 1,
    ...place,
    task_id: task.id,
    form: task.form,
    prompt: policy.promptText(task),
    response: plan,
    reward: faulted ? null : rewardOf(episode, config.reward),
    parts: faulted
      ? null
      : {
          task_completion: episode.taskCompletion,
          field_accuracy: episode.fieldAccuracy,
          execution_completeness: episode.executionCompleteness,
        },
    success: episode.success,
    advantage: null,
    accepted: episode.accepted,
    truth: task.fields,
    posted: episode.posted.map(([name, value]): [string, string] => [name, value]),
    actions: [
      ...episode.actions.map(({ action, fate, detail }) => ({
        action: renderPlan([action], "compact"),
        fate,
        ...(detail === undefined ? {} : { detail }),
      })),
      ...episode.unresolved.map((line) => ({ action: line, fate: "not-an-action" })),
    ],
    ...(faulted ? {} : { received: episode.received, field_scores: episode.perField }),
    fault: episode.fault ?? null,
    tokens: trajectory.response.length,
    trajectory,
  };
}
