import { advantages } from "./advantages.js";
import {
  type AdvantageOptions,
  type EpisodeTurn,
  episodeCredit,
  type GroupEpisode,
  type TurnCredit,
  type TurnPart,
} from "./credit.js";

/**
 * Returns credit per token. A token has the credit of its attempt, compared with the other attempts at the same part,
 *   A_p = A({ r_q : attempts q at the same name in the group } and 0 for every episode without one)_p
 *         + success_weight A({ success of the group's episodes, 0 or 1 })_i of its episode i
 * where A is the objective's advantage (advantages.ts), among turns of the same number. Tokens in no attempt (the
 * submit, EOS) have their turn's credit of the whole episode. So a wrong field does not lower the credit of the others,
 * for which most of an episode's advantage is noise.
 * @returns null for episodes that faulted, and for all where neither rewards nor attempts differ.
 */
export function partCredit(
  group: readonly GroupEpisode[],
  options: Omit<AdvantageOptions, "turn_credit"> & { readonly success_weight?: number },
): (readonly TurnCredit[] | null)[] {
  const whole = episodeCredit(group, { ...options, turn_credit: "episode" });
  const given = new Map<TurnPart, number>();
  const counted = group.filter(({ reward }) => reward !== null);
  const won = successCredit(counted, options);
  const longest = Math.max(0, ...counted.map(({ turns }) => turns.length));
  for (let t = 0; t < longest; t++) {
    const turns = counted.flatMap(({ turns }) => turns[t] ?? []);
    for (const name of new Set(turns.flatMap(({ parts }) => (parts ?? []).map((part) => part.name)))) {
      const attempts = turns.map(({ parts }) => (parts ?? []).filter((part) => part.name === name));
      const flat = attempts.flat();
      const missing = attempts.filter((of) => of.length === 0).map(() => 0);
      const rewards = [...flat.map(({ reward }) => reward), ...missing];
      const values = advantages(rewards, options.advantage, options.adv_clip_max);
      flat.forEach((part, i) => void given.set(part, values?.[i] ?? 0));
    }
  }
  const signal =
    whole.some((turns) => turns !== null) || [...given.values()].some((value) => value !== 0) || won.size > 0;
  return group.map((episode, i) => {
    if (!signal || episode.reward === null) return null;
    return episode.turns.map((turn, t) => perToken(turn, (whole[i]?.[t] ?? 0) as number, given, won.get(episode)));
  });
}

/** Returns what each episode's attempts have for the success of the whole, by episode; empty where none differs. */
function successCredit(
  group: readonly GroupEpisode[],
  o: AdvantageOptions & { readonly success_weight?: number },
): ReadonlyMap<GroupEpisode, number> {
  const { success_weight: weight = 0 } = o;
  const values =
    weight === 0
      ? undefined
      : advantages(
          group.map(({ success }) => Number(success === true)),
          o.advantage,
          o.adv_clip_max,
        );
  return new Map(values?.map((value, i) => [group[i] as GroupEpisode, weight * value]));
}

function perToken(
  { tokens, parts }: EpisodeTurn,
  whole: number,
  given: ReadonlyMap<TurnPart, number>,
  won = 0,
): TurnCredit {
  if (tokens === undefined || parts === undefined) return whole;
  const credit = new Array<number>(tokens).fill(whole);
  for (const part of parts) for (const token of part.tokens) credit[token] = (given.get(part) ?? 0) + won;
  return { tokens: credit };
}
