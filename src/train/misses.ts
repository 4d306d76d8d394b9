import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Action } from "../core/interaction.js";
import type { Environment, EnvironmentTask, EpisodeOutcome } from "../env/environment.js";

/** An episode with its answers, for inspection. */
export interface PlayedEpisode {
  readonly task: EnvironmentTask;
  readonly actions: readonly (Action & { readonly logProbs?: Readonly<Record<string, number>> })[];
  readonly outcome: EpisodeOutcome;
}

/** An episode without success. */
export interface Miss {
  readonly task_id: string;
  readonly form: string;
  /** Null where the environment failed. */
  readonly reward: number | null;
  readonly fault: string | null;
  /** The policy's answers, turn by turn. */
  readonly answers: readonly string[];
  readonly detail: Readonly<Record<string, unknown>>;
  /** A picture (JPEG) of the final state; null where there is none. */
  readonly picture: string | null;
}

/** Lists the episodes without success, worst first, each with a picture in `folder` where the environment takes one. */
export async function missesOf(
  played: readonly PlayedEpisode[],
  environment: Pick<Environment, "photograph">,
  folder: string,
): Promise<Miss[]> {
  const missed = played.filter(({ outcome }) => !outcome.success);
  missed.sort((a, b) => (a.outcome.reward ?? -1) - (b.outcome.reward ?? -1));
  return Promise.all(
    missed.map(async ({ task, actions, outcome }, i): Promise<Miss> => {
      const image = await environment.photograph?.(task, actions);
      const picture = image === undefined ? null : join(folder, `${String(i + 1).padStart(3, "0")}.jpg`);
      if (image !== undefined && picture !== null) {
        mkdirSync(folder, { recursive: true });
        writeFileSync(picture, image);
      }
      return {
        task_id: task.id,
        form: task.form,
        reward: outcome.reward,
        fault: outcome.fault ?? null,
        answers: actions.map(({ text }) => text ?? ""),
        detail: { ...outcome.detail, ...sure(actions) },
        picture,
      };
    }),
  );
}

/** Returns the probability of each blank's value of all turns, for the view of an episode. */
function sure(actions: PlayedEpisode["actions"]): { readonly probabilities?: Readonly<Record<string, number>> } {
  const known = actions.flatMap(({ logProbs }) => Object.entries(logProbs ?? {}));
  return known.length === 0 ? {} : { probabilities: Object.fromEntries(known.map(([name, p]) => [name, Math.exp(p)])) };
}
