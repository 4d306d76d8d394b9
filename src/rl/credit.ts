import { z } from "zod";
import { type AdvantageKind, advantages } from "./advantages.js";

/** One episode of a group, as credit is given for it. */
export interface GroupEpisode {
  /** Null where the environment failed: it says nothing about the policy. */
  readonly reward: number | null;
  /** One entry a turn. */
  readonly turns: readonly EpisodeTurn[];
}

export interface EpisodeTurn {
  /** What the environment gave for this turn alone, where it does. */
  readonly reward?: number;
  /** Steps of its trajectory. */
  readonly steps: number;
  /** Reward of the response as it stood after each step, where the objective asked for drafts. */
  readonly drafts?: readonly number[];
}

/** Credit of one turn: the same for all of its steps, or one number a step. */
export type TurnCredit = number | readonly number[];

/** Options of every objective whose credit is an advantage of the whole episode. */
export const advantageOptions = (kind: AdvantageKind) => ({
  adv_clip_max: z.number().positive().default(5).describe("advantages are clipped to +- this"),
  advantage: z
    .enum(["group", "center", "leave_one_out"])
    .default(kind)
    .describe("how a group's rewards become advantages"),
});

export interface AdvantageOptions {
  readonly advantage: AdvantageKind;
  readonly adv_clip_max: number;
}

/**
 * One advantage an episode, the same for all of its turns (advantages.ts). Episodes that faulted are left out of the
 * group; a group whose rewards are all equal teaches nothing.
 */
export function episodeCredit(
  group: readonly GroupEpisode[],
  { advantage, adv_clip_max: clipMax }: AdvantageOptions,
): (readonly TurnCredit[] | null)[] {
  const rewards = group.flatMap(({ reward }) => (reward === null ? [] : [reward]));
  const values = advantages(rewards, advantage, clipMax);
  let next = 0;
  return group.map(({ reward, turns }) => {
    if (reward === null || values === undefined) return null;
    const value = values[next++] as number;
    return turns.map(() => value);
  });
}
