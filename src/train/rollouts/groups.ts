import { Rng } from "../../core/rng.js";
import type { Trajectory } from "../../diffusion/trajectory.js";
import type { GroupEpisode, TurnCredit } from "../../rl/credit.js";
import type { RolloutRecord } from "../../runs/rollout-record.js";

/** An episode as input of a training step, played just now or read from a file. */
export interface Sampled {
  /** One entry per turn. */
  readonly trajectories: readonly Trajectory[];
  readonly record: RolloutRecord;
  /** Rewards of the drafts of each turn, where the objective needs them. */
  readonly drafts?: readonly (readonly number[])[];
}

/** The episodes of one task. */
export interface Group {
  readonly rollouts: readonly Sampled[];
  /** Credit of each episode; null where it is left out. */
  readonly credit: readonly (readonly TurnCredit[] | null)[];
  /** True where any episode has credit: a group without signal is not trained on. */
  readonly signal: boolean;
}

/** One turn that is trained on. */
export interface Sample {
  readonly trajectory: Trajectory;
  readonly credit: TurnCredit;
  /** The sample's own random streams, by purpose: independent of every other sample's. */
  readonly stream: (name: string) => Rng;
}

/** Combines the episodes of a task with their credit. */
export const withCredit = (rollouts: readonly Sampled[], credit: Group["credit"]): Group => ({
  rollouts,
  credit,
  signal: credit.some((of) => of !== null),
});

/**
 * Returns episodes as input of an objective.
 * @param offsetsOf returns the offset of each response token in a turn's text, where that is known.
 */
export function episodesOf(
  rollouts: readonly Sampled[],
  stepsOf: (trajectory: Trajectory) => number,
  offsetsOf?: (trajectory: Trajectory) => readonly number[],
): GroupEpisode[] {
  return rollouts.map(({ record, trajectories, drafts }) => ({
    reward: record.reward,
    success: record.success,
    turns: trajectories.map((trajectory, t) => {
      const [reward, rewards, parts] = [record.turns[t]?.reward, drafts?.[t], record.turns[t]?.parts];
      const offsets = parts === undefined ? undefined : offsetsOf?.(trajectory);
      return {
        steps: stepsOf(trajectory),
        ...(typeof reward === "number" ? { reward } : {}),
        ...(rewards === undefined ? {} : { drafts: rewards }),
        ...(parts === undefined || offsets === undefined
          ? {}
          : {
              tokens: offsets.length,
              parts: parts.map(({ name, reward, start, end }) => ({
                name,
                reward,
                tokens: offsets.flatMap((at, i) => (at >= start && at < end ? [i] : [])),
              })),
            }),
      };
    }),
  }));
}

/** Selects the samples to train on: the turns of all groups with signal. @param seed of the run. */
export function samplesOf(groups: readonly Group[], seed: number, step: number): Sample[] {
  return groups.flatMap((group, g) =>
    group.rollouts.flatMap(({ trajectories }, r) => {
      const credit = group.credit[r];
      if (credit === null || credit === undefined) return [];
      return trajectories.map((trajectory, t) => ({
        trajectory,
        credit: credit[t] ?? 0,
        stream: (name: string) => Rng.named(seed, `${name}/${step}/${g}/${r}/${t}`),
      }));
    }),
  );
}

/** Returns the records of a step's groups with their credit in training. */
export function recordsOf(step: number, groups: readonly Group[]): RolloutRecord[] {
  return groups.flatMap(({ rollouts, credit }) =>
    rollouts.map(({ record }, i) => {
      const given = credit[i] ?? null;
      const [first] = given ?? [];
      // one number where all turns and steps have equal credit
      const same = typeof first === "number" && given?.every((turn) => turn === first);
      return {
        ...record,
        step,
        advantage: same ? first : null,
        ...(same || given === null
          ? {}
          : { credit: given.map((turn) => structuredClone(turn) as number | number[] | { tokens: number[] }) }),
      };
    }),
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
