import { fail } from "../core/errors.js";
import { groupBy } from "../core/group-by.js";
import { listed } from "../core/problems.js";
import { Rng } from "../core/rng.js";
import type { Environment, EnvironmentTask, EpisodeOutcome, Unproven } from "../env/environment.js";

/** Most misses and forms in a list. */
const MOST_LISTED = 10;
/** Most forms that are sent with wrong answers. */
const MOST_WRONG = 4;
const NEVER_REFUSED =
  'If this site does refuse some forms, name what an accepted one shows: "success" in its tasks (docs/sites.md).';

interface Rehearsed {
  readonly task: EnvironmentTask;
  /** The mistake put into the answer; undefined: the oracle's own answer. */
  readonly what: string | undefined;
  readonly outcome: EpisodeOutcome;
}

/**
 * Plays some of the tasks with the oracle, one of every form first: no policy can win a task that the oracle cannot,
 * and training on such a reward would be misled. Some forms are also sent with wrong answers, and the site's response
 * is reported: a verdict that never refuses gives no signal.
 * @param note receives the outcome of the wrong answers.
 * @param onEpisode called after each played episode.
 * @throws UserError that names the failed tasks, where the oracle does not win all of them.
 */
export async function rehearse(
  environment: Environment,
  tasks: readonly EnvironmentTask[],
  note: (text: string) => void,
  onEpisode?: (done: number, all: number) => void,
): Promise<void> {
  const { unproven, fixedPolicies } = environment;
  const { oracle } = fixedPolicies;
  if (unproven === undefined || unproven.tasks === 0 || oracle === undefined) return;
  const chosen = ofEveryForm(tasks).slice(0, unproven.tasks);
  const first = chosen.filter((task, i) => chosen.findIndex(({ form }) => form === task.form) === i);
  const wrong = first
    .slice(0, MOST_WRONG)
    .flatMap((task) => Object.entries(unproven.wrong).map(([what, policy]) => ({ task, policy, what })));
  const plays = [...chosen.map((task) => ({ task, policy: oracle, what: undefined })), ...wrong];
  let done = 0;
  await environment.start();
  const together = new Map();
  const played = await Promise.all(
    plays.map(async ({ task, policy, what }): Promise<Rehearsed> => {
      const act = await policy(task, Rng.named(0, `rehearsal/${task.id}`));
      const outcome = await environment.play(task, act, together);
      onEpisode?.(++done, plays.length);
      return { task, what, outcome };
    }),
  );
  reportWrong(played, unproven, note);
  const missed = played.filter(({ what, outcome }) => what === undefined && !outcome.success);
  if (missed.length === 0) return;
  const lines = missed.map(({ task, outcome }) => `${task.id}: ${unproven.why(outcome)}`);
  fail(
    `The oracle, which knows every value, does not win ${missed.length} of ${chosen.length} training tasks:${listed(lines, MOST_LISTED)}`,
    { hint: unproven.hint },
  );
}

/** Reports the outcomes of the forms that were sent with wrong answers. */
function reportWrong(played: readonly Rehearsed[], { refused }: Unproven, note: (text: string) => void): void {
  const wrong = played.filter(({ what }) => what !== undefined);
  for (const [form, answers] of groupBy(wrong, ({ task }) => task.form)) {
    const results = answers.map(({ what, outcome }) => `${what}: ${refused(outcome) ?? "accepted"}`).join("; ");
    const never = answers.every(({ outcome }) => refused(outcome) === undefined);
    note(`The form ${form}, sent wrong: ${results}${never ? `\n  ${NEVER_REFUSED}` : ""}`);
  }
}

/** Orders tasks: the first one of every form before the second ones. */
function ofEveryForm(tasks: readonly EnvironmentTask[]): EnvironmentTask[] {
  const seen = new Map<string, number>();
  const ranked = tasks.map((task) => {
    const rank = seen.get(task.form) ?? 0;
    seen.set(task.form, rank + 1);
    return { task, rank };
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ task }) => task);
}
