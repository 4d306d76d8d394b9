import { Rng } from "../../core/rng.js";
import type { Policy } from "../../engine/policy.js";
import type { EnvironmentTask } from "../../env/environment.js";
import { tasksOf } from "../../env/open.js";
import type { TurnCredit } from "../../rl/credit.js";
import type { Objective } from "../../rl/objective.js";
import type { RolloutRecord } from "../../runs/rollout-record.js";
import type { StepContext } from "../context.js";
import type { Rollout } from "./collect.js";
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

/** Draws tasks and plays a group for each; groups without signal are drawn again where dynamic sampling is on. */
export class PlayedGroups implements PlayedSource {
  private readonly cursor: TaskCursor<EnvironmentTask>;

  constructor(
    private readonly context: StepContext,
    state: { readonly cursor?: number | undefined },
    private readonly onEpisode: (done: number, all: number, rollout: Rollout) => void,
  ) {
    const { seed, executor } = context;
    const tasks = tasksOf(executor.environment, "train");
    this.cursor = new TaskCursor(tasks, (epoch) => Rng.named(seed, `tasks/${epoch}`), state.cursor ?? 0);
  }

  get drawn(): number {
    return this.cursor.drawn;
  }

  /** @param collectRollouts plays with another policy than the present one. */
  async collect(step: number, collectRollouts = this.context.executor.collect): Promise<StepGroups> {
    const { policy, objective, options, seed, training, executor } = this.context;
    const { prompts_per_step: wanted, group_size: size, dynamic_sampling: redraw } = training;
    const began = performance.now();
    let generating = 0;
    let episodes = 0;
    const groups: Sampled[][] = [];
    let teaching = 0;
    for (let attempt = 0; attempt <= (redraw ? REDRAW_LIMIT : 0); attempt++) {
      const missing = wanted - teaching;
      if (missing === 0) break;
      const tasks = Array.from({ length: attempt === 0 ? wanted : missing }, () => this.cursor.next());
      const each = tasks.flatMap((task) => Array.from({ length: size }, () => task));
      const { rollouts, times } = await collectRollouts({
        tasks: each,
        seed,
        streams: each.map((_, i) => `rollout/${step}/${attempt}/${i}`),
        decoding: "training",
        batch: training.rollout_batch,
        onEpisode: (done, rollout) => this.onEpisode(done, each.length, rollout),
      });
      generating += times.generating;
      episodes += times.episodes;
      const drafts = objective.needs(options).drafts
        ? await playDrafts(policy, executor.environment, rollouts)
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
        groups.push(sampled);
        if (redraw && creditOf(this.context, sampled).some((credit) => credit !== null)) teaching++;
      }
    }
    return { groups, generating, episodes, rollout: (performance.now() - began) / 1000 };
  }
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
