import { UserError } from "../core/errors.js";
import { Rng } from "../core/rng.js";
import type { Environment, EnvironmentTask } from "../env/environment.js";

/** Misses that are listed. */
const MOST_LISTED = 10;

/**
 * The oracle plays some of the tasks, of every form one first: what it cannot win no policy can, and a training on such a
 * reward teaches to live with it.
 * @param onEpisode told of each episode that was played.
 * @throws UserError that names what cannot be done, where it does not win all of them.
 */
export async function rehearse(
  environment: Environment,
  tasks: readonly EnvironmentTask[],
  onEpisode?: (done: number, all: number) => void,
): Promise<void> {
  const { unproven, fixedPolicies } = environment;
  const { oracle } = fixedPolicies;
  if (unproven === undefined || unproven.tasks === 0 || oracle === undefined) return;
  const chosen = ofEveryForm(tasks).slice(0, unproven.tasks);
  let done = 0;
  await environment.start();
  const together = new Map();
  const played = await Promise.all(
    chosen.map(async (task) => {
      const act = await oracle(task, Rng.named(0, `rehearsal/${task.id}`));
      const outcome = await environment.play(task, act, together);
      onEpisode?.(++done, chosen.length);
      return { task, outcome };
    }),
  );
  const missed = played.filter(({ outcome }) => !outcome.success);
  if (missed.length === 0) return;
  const listed = missed.slice(0, MOST_LISTED).map(({ task, outcome }) => `\n  ${task.id}: ${unproven.why(outcome)}`);
  const more = missed.length > MOST_LISTED ? `\n  and ${missed.length - MOST_LISTED} more` : "";
  throw new UserError(
    `The oracle, which knows every value, does not win ${missed.length} of ${chosen.length} training tasks:${listed.join("")}${more}`,
    { hint: unproven.hint },
  );
}

/** The tasks, the first one of every form before the second ones. */
function ofEveryForm(tasks: readonly EnvironmentTask[]): EnvironmentTask[] {
  const seen = new Map<string, number>();
  const ranked = tasks.map((task) => {
    const rank = seen.get(task.form) ?? 0;
    seen.set(task.form, rank + 1);
    return { task, rank };
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ task }) => task);
}
