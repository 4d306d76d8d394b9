import type { Rng } from "../core/rng.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import { type AdvantageKind, advantages } from "../rl/advantages.js";
import type { RolloutRecord } from "../runs/rollout-record.js";

/** What a step learns from in one rollout, played just now or read from a file. */
export interface Sampled {
  readonly trajectory: Trajectory;
  readonly record: RolloutRecord;
}

/** The rollouts of one task. */
export interface Group {
  readonly rollouts: readonly Sampled[];
  /** Advantage of each rollout; null where the environment failed, or where the group carries no signal. */
  readonly advantages: readonly (number | null)[];
  /** False where all rewards are equal: the group takes no step at all. */
  readonly signal: boolean;
}

/** What is trained on: trajectories with their advantages, of all groups that carry signal. */
export interface Sample {
  readonly trajectory: Trajectory;
  readonly advantage: number;
  /** Where the step's gradient is measured in two halves: which of them the sample is in. */
  readonly half?: Half;
}

export type Half = 0 | 1;

/** Rollouts whose environment failed are left out of the group; the rest get their advantages. */
export function makeGroup(rollouts: readonly Sampled[], kind: AdvantageKind, clipMax: number): Group {
  const rewards = rollouts.map((r) => r.record.reward);
  const values = advantages(
    rewards.filter((reward) => reward !== null),
    kind,
    clipMax,
  );
  if (values === undefined) return { rollouts, advantages: rollouts.map(() => null), signal: false };
  let next = 0;
  return { rollouts, advantages: rewards.map((r) => (r === null ? null : (values[next++] as number))), signal: true };
}

export function samplesOf(groups: readonly Group[], halves?: ReadonlyMap<Group, Half>): Sample[] {
  return groups.flatMap((g) => {
    const half = halves?.get(g);
    return g.rollouts.flatMap((r, i) => {
      const advantage = g.advantages[i];
      if (advantage === null || advantage === undefined) return [];
      return [{ trajectory: r.trajectory, advantage, ...(half === undefined ? {} : { half }) }];
    });
  });
}

/** The lines of a step's groups with the advantages that they were trained with. */
export function recordsOf(step: number, groups: readonly Group[]): RolloutRecord[] {
  return groups.flatMap(({ rollouts, advantages }) =>
    rollouts.map(({ record }, i) => ({ ...record, step, advantage: advantages[i] ?? null })),
  );
}

/** Walks through tasks in a seeded shuffled order, epoch after epoch; its whole state is one number. */
export class TaskCursor<T> {
  private epoch = -1;
  private order: readonly T[] = [];

  constructor(
    private readonly tasks: readonly T[],
    private readonly stream: (epoch: number) => Rng,
    /** Tasks drawn so far. */
    public drawn: number,
  ) {}

  next(): T {
    const epoch = Math.floor(this.drawn / this.tasks.length);
    if (epoch !== this.epoch) {
      this.epoch = epoch;
      this.order = this.stream(epoch).shuffle(this.tasks);
    }
    return this.order[this.drawn++ % this.tasks.length] as T;
  }
}
