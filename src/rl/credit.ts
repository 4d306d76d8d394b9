import { z } from "zod";
import { type AdvantageKind, advantages } from "./advantages.js";

/** One episode of a group, as input of credit assignment. */
export interface GroupEpisode {
  /** Null where the environment failed, which is no evidence about the policy. */
  readonly reward: number | null;
  /** True where the whole task succeeded. */
  readonly success?: boolean;
  /** One entry per turn. */
  readonly turns: readonly EpisodeTurn[];
}

/** A separately scored part of a turn's answer. */
export interface TurnPart {
  /** Name of the attempted part: the same in every episode of the task. */
  readonly name: string;
  readonly reward: number;
  /** Indices of its tokens in the response. */
  readonly tokens: readonly number[];
}

export interface EpisodeTurn {
  /** Reward of this turn alone, where the environment gives one. */
  readonly reward?: number;
  /** Steps of its trajectory. */
  readonly steps: number;
  /** Number of response tokens, and rewards of its parts, where the environment gives them. */
  readonly tokens?: number;
  readonly parts?: readonly TurnPart[];
  /** Reward of the response after each step, where the objective needs drafts. */
  readonly drafts?: readonly number[];
}

/** Credit of one turn: one number for all of its steps, one per step, or one per token of its response. */
export type TurnCredit = number | readonly number[] | { readonly tokens: readonly number[] };

/** Options of every objective whose credit is an advantage. */
export const advantageOptions = (kind: AdvantageKind) => ({
  adv_clip_max: z.number().positive().default(5).describe("advantages are clipped to +- this"),
  advantage: z
    .enum(["group", "center", "leave_one_out"])
    .default(kind)
    .describe("how a group's rewards become advantages"),
  turn_credit: z
    .enum(["episode", "turn"])
    .default("episode")
    .describe(
      "episode: every turn gets the episode's advantage; turn: each gets that of what was earned from it on, among the turns of its number",
    ),
  discount: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .describe("gamma: what is earned k turns later counts gamma^k as much for a turn"),
});

type Options = z.infer<z.ZodObject<ReturnType<typeof advantageOptions>>>;
export type AdvantageOptions = Pick<Options, "advantage" | "adv_clip_max"> & Partial<Options>;

/**
 * Returns the advantages (advantages.ts) of the episodes of one task, or of their turns. T_i turns, numbered from 0;
 * R_i the episode's reward, r_ik the environment's reward of turn k alone.
 *
 *   turn_credit = episode   A_it = gamma^(T_i - 1 - t) A(R)_i
 *   turn_credit = turn      A_it = A(G_t)_i,  G_it = sum_{k >= t} gamma^(k - t) r_ik   (return from a turn on)
 *                           among the episodes that have a turn t. Without rewards of turns, the last turn has the
 *                           episode's reward and the others have 0.
 *
 * Faulted episodes are left out of the group; a group whose rewards (returns) are all equal gets no credit. A turn
 * whose returns are all equal, in a group where others differ, has advantage 0.
 */
export function episodeCredit(
  group: readonly GroupEpisode[],
  options: AdvantageOptions,
): (readonly TurnCredit[] | null)[] {
  const { advantage, adv_clip_max: clipMax, turn_credit: kind = "episode", discount = 1 } = options;
  const advantagesOf = (rewards: readonly number[]) => advantages(rewards, advantage, clipMax);
  const counted = group.filter(({ reward }) => reward !== null);
  if (kind === "turn") {
    const credit = turnAdvantages(counted, advantagesOf, discount);
    return group.map((episode) => credit?.get(episode) ?? null);
  }
  const values = advantagesOf(counted.map(({ reward }) => reward as number));
  return group.map((episode) => {
    const value = values?.[counted.indexOf(episode)];
    const last = episode.turns.length - 1;
    return value === undefined ? null : episode.turns.map((_, t) => value * discount ** (last - t));
  });
}

/** @returns undefined where the returns of every turn are equal. */
function turnAdvantages(
  group: readonly GroupEpisode[],
  advantagesOf: (values: readonly number[]) => readonly number[] | undefined,
  discount: number,
): Map<GroupEpisode, number[]> | undefined {
  const credit = new Map(group.map((episode) => [episode, episode.turns.map(() => 0)]));
  const returns = new Map(group.map((episode) => [episode, returnsOf(episode, discount)]));
  const longest = Math.max(0, ...group.map(({ turns }) => turns.length));
  let signal = false;
  for (let t = 0; t < longest; t++) {
    const reached = group.filter(({ turns }) => turns.length > t);
    const values = advantagesOf(reached.map((episode) => returns.get(episode)?.[t] as number));
    signal ||= values !== undefined;
    values?.forEach((value, i) => {
      (credit.get(reached[i] as GroupEpisode) as number[])[t] = value;
    });
  }
  return signal ? credit : undefined;
}

/** Returns the discounted return of an episode from each of its turns on. */
function returnsOf({ reward, turns }: GroupEpisode, discount: number): number[] {
  const given = turns.some((turn) => turn.reward !== undefined);
  const returns: number[] = [];
  let later = 0;
  for (let t = turns.length - 1; t >= 0; t--) {
    const earned = given ? (turns[t]?.reward ?? 0) : t === turns.length - 1 ? (reward as number) : 0;
    later = earned + discount * later;
    returns.unshift(later);
  }
  return returns;
}
