import type { RolloutRecord } from "../../runs/rollout-record.js";

/** Fewest rollouts that show whether a blank's reward depends on what is written there. */
const FEWEST_ROLLOUTS = 32;

/** A blank whose reward was the same whatever was written there. */
export interface UnmovedBlank {
  readonly form: string;
  readonly name: string;
  readonly reward: number;
  /** Different values written, and rollouts. */
  readonly values: number;
  readonly rollouts: number;
}

/** Collects the rewards of blanks, to find those that no answer of the site moves. */
export class BlankRewards {
  private readonly seen = new Map<
    string,
    { form: string; name: string; values: Set<string>; rewards: Set<number>; rollouts: number }
  >();

  add({ form = "", turns }: Partial<RolloutRecord>): void {
    // a record may be damaged
    for (const turn of Array.isArray(turns) ? turns : []) {
      if (typeof turn?.response !== "string" || !Array.isArray(turn.parts)) continue;
      for (const { name, start, end, reward } of turn.parts) {
        const key = JSON.stringify([form, name]);
        const blank = this.seen.get(key) ?? { form, name, values: new Set(), rewards: new Set(), rollouts: 0 };
        this.seen.set(key, blank);
        blank.values.add(turn.response.slice(start, end));
        blank.rewards.add(reward);
        blank.rollouts++;
      }
    }
  }

  /** Lists the blanks that took several values and one reward. */
  list(): UnmovedBlank[] {
    return [...this.seen.values()]
      .filter(({ values, rewards, rollouts }) => values.size > 1 && rewards.size === 1 && rollouts >= FEWEST_ROLLOUTS)
      .map(({ values, rewards, ...rest }) => ({ ...rest, values: values.size, reward: [...rewards][0] as number }));
  }
}
