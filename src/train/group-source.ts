import type { RunConfig } from "../config/config.js";
import { Rng } from "../core/rng.js";
import type { Policy } from "../engine/policy.js";
import type { AdvantageKind } from "../rl/advantages.js";
import type { Environment } from "./environment.js";
import { type Group, makeGroup, type Sampled, TaskCursor } from "./groups.js";
import { collectRollouts, type Rollout, recordOf } from "./rollouts.js";

/** Further tasks that dynamic sampling may draw for each that carried no signal. */
const REDRAW_LIMIT = 3;

/** The groups of a step, and what it took to get them. */
export interface StepGroups {
  readonly groups: readonly Group[];
  /** Seconds in which the model generated. */
  readonly generating: number;
  /** Seconds from the first generated token to the last scored episode. */
  readonly rollout: number;
  /** Episodes that the browser played. */
  readonly episodes: number;
}

/** Where a run's groups come from: its own policy in the browser, or the rollouts of another run. */
export interface GroupSource {
  collect(step: number): Promise<StepGroups>;
  /** Tasks drawn so far: the whole state of the source, kept in checkpoints. */
  readonly drawn: number;
}

/** Options that every objective of the reinforcement recipe has. */
interface AdvantageOptions {
  readonly advantage: AdvantageKind;
  readonly adv_clip_max: number;
}

/** A group whose advantages follow the objective's own settings. */
export function groupFor(config: RunConfig, rollouts: readonly Sampled[]): Group {
  const { advantage, adv_clip_max: clipMax } = config.objective as unknown as AdvantageOptions;
  return makeGroup(rollouts, advantage, clipMax);
}

/** Draws tasks and plays a group for each; groups without signal are drawn again where dynamic sampling is on. */
export class PlayedGroups implements GroupSource {
  private readonly cursor: TaskCursor<ReturnType<Environment["tasks"]>[number]>;

  constructor(
    private readonly config: RunConfig,
    private readonly policy: Policy,
    private readonly environment: Environment,
    drawn: number,
    private readonly onEpisode: (done: number, all: number, rollout: Rollout) => void,
  ) {
    const tasks = environment.tasks("train");
    this.cursor = new TaskCursor(tasks, (epoch) => Rng.named(config.seed, `tasks/${epoch}`), drawn);
  }

  get drawn(): number {
    return this.cursor.drawn;
  }

  async collect(step: number): Promise<StepGroups> {
    const { config, policy } = this;
    const { prompts_per_step: wanted, group_size: size, dynamic_sampling: redraw } = config.training;
    const runner = await this.environment.runner();
    const began = performance.now();
    let generating = 0;
    let episodes = 0;
    const groups: Group[] = [];
    for (let attempt = 0; attempt <= (redraw ? REDRAW_LIMIT : 0); attempt++) {
      const missing = wanted - groups.filter((g) => g.signal).length;
      if (missing === 0) break;
      const tasks = Array.from({ length: attempt === 0 ? wanted : missing }, () => this.cursor.next());
      const each = tasks.flatMap((task) => Array.from({ length: size }, () => task));
      const rngs = each.map((_, i) => Rng.named(config.seed, `rollout/${step}/${attempt}/${i}`));
      const { rollouts, times } = await collectRollouts(policy, runner, each, rngs, {
        batch: config.training.rollout_batch,
        onEpisode: (done, rollout) => this.onEpisode(done, each.length, rollout),
      });
      generating += times.generating;
      episodes += times.episodes;
      for (let i = 0; i < rollouts.length; i += size) {
        const sampled = rollouts.slice(i, i + size).map((rollout, r) => ({
          trajectory: rollout.trajectory,
          record: recordOf(rollout, { step, group: groups.length, rollout: r }, config, policy),
        }));
        groups.push(groupFor(config, sampled));
      }
    }
    return { groups, generating, episodes, rollout: (performance.now() - began) / 1000 };
  }
}
