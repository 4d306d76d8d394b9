import { fail } from "../core/errors.js";
import { groupBy } from "../core/group-by.js";
import { listed } from "../core/problems.js";
import { Rng } from "../core/rng.js";
import type { Environment, EnvironmentTask, EpisodeOutcome, FixedPolicy, Unproven } from "../env/environment.js";

/** Most misses and forms in a list. */
const MOST_LISTED = 10;
/** Most forms that are sent with wrong answers. */
const MOST_WRONG = 4;
/** Most tasks that are sent with wrong answers where the verdict alone is learned from. */
const MOST_PROVED = 16;
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
  if (unproven.mustRefuse === true) return proveVerdict(environment, tasks, unproven, note, onEpisode);
  const chosen = ofEveryForm(tasks).slice(0, unproven.tasks);
  const first = chosen.filter((task, i) => chosen.findIndex(({ form }) => form === task.form) === i);
  const wrong = first
    .slice(0, MOST_WRONG)
    .flatMap((task) => Object.entries(unproven.wrong).map(([what, policy]) => ({ task, policy, what })));
  const plays = [...chosen.map((task) => ({ task, policy: oracle, what: undefined })), ...wrong];
  const played = await playAll(environment, plays, onEpisode);
  reportWrong(played, unproven, note);
  const missed = played.filter(({ what, outcome }) => what === undefined && !outcome.success);
  if (missed.length === 0) return;
  const lines = missed.map(({ task, outcome }) => `${task.id}: ${unproven.why(outcome)}`);
  fail(
    `The oracle, which knows every value, does not win ${missed.length} of ${chosen.length} training tasks:${listed(lines, MOST_LISTED)}`,
    { hint: unproven.hint },
  );
}

interface Play {
  readonly task: EnvironmentTask;
  readonly policy: FixedPolicy;
  readonly what: string | undefined;
}

async function playAll(
  environment: Environment,
  plays: readonly Play[],
  onEpisode?: (done: number, all: number) => void,
): Promise<Rehearsed[]> {
  let done = 0;
  await environment.start();
  const together = new Map();
  return Promise.all(
    plays.map(async ({ task, policy, what }): Promise<Rehearsed> => {
      const act = await policy(task, Rng.named(0, `rehearsal/${task.id}`));
      const outcome = await environment.play(task, act, together);
      onEpisode?.(++done, plays.length);
      return { task, what, outcome };
    }),
  );
}

/**
 * Sends forms with answers that no task asks for. A verdict that accepts them would teach a policy to send them.
 * @throws UserError if a form accepts more than half of them.
 */
async function proveVerdict(
  environment: Environment,
  tasks: readonly EnvironmentTask[],
  { tasks: most, wrong, refused, hint }: Unproven,
  note: (text: string) => void,
  onEpisode?: (done: number, all: number) => void,
): Promise<void> {
  const chosen = ofEveryForm(tasks).slice(0, Math.min(most, MOST_PROVED));
  const plays = Object.entries(wrong).flatMap(([what, policy]) => chosen.map((task) => ({ task, policy, what })));
  const played = await playAll(environment, plays, onEpisode);
  const problems = [...groupBy(played, ({ task, what }) => `${what}|${task.form}`).values()].flatMap((of) => {
    const [{ what, task, outcome }] = of as [Rehearsed];
    const taken = of.filter(({ outcome }) => refused(outcome) === undefined);
    note(
      `The form ${task.form}, sent ${what}: ${taken.length} of ${of.length} accepted (${refused(outcome) ?? "taken"})`,
    );
    return taken.length > of.length / 2
      ? [`${task.form} accepts ${what} in ${taken.length} of ${of.length} tasks`]
      : [];
  });
  if (problems.length > 0) fail(`The site's verdict cannot be learned from:${listed(problems, MOST_LISTED)}`, { hint });
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
