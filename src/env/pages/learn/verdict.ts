import type { EpisodeRunner } from "../../browser/episode.js";
import { isError } from "../../forms/judge.js";
import type { FieldValue } from "../../site.js";
import { featuresOf, telling, withoutValues } from "../answer.js";
import type { Contract } from "../contract.js";
import { type Attempt, attempt, type LearnLimits } from "./attempt.js";
import type { Person, Progress } from "./fill-in.js";

/** Most fields that are left out, one at a time, until the server refuses. */
const MOST_LEFT_OUT = 3;

/** Lists the features of an attempt's answer that do not contain the person's values. */
function observed({ exchange, before, after }: Attempt, person: Person): string[] {
  if (exchange === undefined) return [];
  return withoutValues([...featuresOf(exchange), ...after.filter((line) => !before.includes(line))], person);
}

/**
 * Finds the features that tell an accepted form from a refused one: sends the form empty, then with one field left out
 * at a time, until the server answers differently.
 */
export async function learnVerdict(
  runner: EpisodeRunner,
  progress: Progress,
  persons: readonly Person[],
  right: readonly { person: Person; attempt: Attempt }[],
  limits: LearnLimits,
  end: number,
): Promise<Pick<Contract, "accepted" | "refused">> {
  // if a field was never found, even the best submission may have been refused
  const taken = right.filter(({ attempt: { exchange } }) => !isError(exchange?.answer?.status ?? null));
  if (taken.length === 0) return { accepted: [], refused: [] };
  const accepted = taken.map(({ person, attempt: done }) => observed(done, person));
  const base = persons[0] as Person;
  const labels = progress.fields
    .filter(({ label, kind }) => label in base && kind !== "flag")
    .map(({ label }) => label);
  const without: Person[] = [{}, ...labels.slice(0, MOST_LEFT_OUT).map((label) => leftOut(base, label))];
  let second: Pick<Contract, "accepted" | "refused"> | undefined;
  for (const person of without) {
    if (performance.now() > end) break;
    const played = await runner.converse((session) => attempt(session, progress, person, false), limits.attemptMs);
    if ("fault" in played || played.result.exchange === undefined) continue;
    const refused = observed(played.result, person);
    const differs = telling(accepted, [refused]);
    if (differs.length === 0) continue;
    const found = { accepted: differs, refused: telling([refused], accepted) };
    // a difference in texts alone may only reflect the missing value
    if (!differs.some((feature) => /^(?:says|shows)/.test(feature))) return found;
    second ??= found;
  }
  return second ?? { accepted: telling(accepted, []), refused: [] };
}

function leftOut(person: Person, label: string): Person {
  const { [label]: _, ...rest } = person;
  return rest as Record<string, FieldValue>;
}
