import { isSame, pathOf } from "../../../env/browser/network/exchange.js";
import { featuresOf } from "../../../env/forms/answer.js";
import { isError } from "../../../env/forms/judge.js";
import type { FieldValue } from "../../../env/site.js";
import type { Contract } from "../contract.js";
import type { Attempt, Play, Submitted } from "./attempt.js";
import type { Person, SearchState } from "./fill-in.js";
import { apart, telling, withoutValues } from "./telling.js";

/** Most fields that are left out, one at a time, until the server refuses. */
const MOST_LEFT_OUT = 3;
/** Most features of accepted answers that are kept where no refused one is known. */
const MOST_KEPT = 4;

/** The parts of a search that the verdict needs. */
interface Sought {
  readonly play: Play;
  readonly progress: SearchState;
  readonly persons: readonly Person[];
  /** Attempts in which values were missing. */
  readonly earlier: readonly Submitted[];
}

type Request = NonNullable<Contract["request"]>;
type Verdict = Pick<Contract, "request" | "accepted" | "refused" | "no_refusal">;

/** Finds a request of an attempt, sent after the button was pressed; of several the one that was accepted. */
export function exchangeIn({ exchanges }: Pick<Attempt, "exchanges">, request: Request): Attempt["exchange"] {
  const sent = exchanges.filter((e) => e.phase === "submit" && isSame(request, e));
  return sent.find(({ answer }) => !isError(answer?.status ?? null)) ?? sent.at(-1);
}

/** Lists the features of the answer to a request that do not contain the person's values. */
function observed({ person, attempt }: Submitted, request: Request): string[] {
  const exchange = exchangeIn(attempt, request);
  if (exchange === undefined) return [];
  const { before, after } = attempt;
  return withoutValues([...featuresOf(exchange), ...after.filter((line) => !before.includes(line))], person);
}

/** Lists the requests that every attempt sent after the button was pressed, the one taken for the form's first. */
function requestsOf(right: readonly Submitted[], first: Request): Request[] {
  const all = (right[0]?.attempt.exchanges ?? [])
    .filter(({ phase, method }) => phase === "submit" && method !== "GET")
    .map((e) => ({ method: e.method, path: pathOf(e) }));
  const others = all.filter(
    (one, i) =>
      all.findIndex(({ method, path }) => one.method === method && one.path === path) === i &&
      (one.method !== first.method || one.path !== first.path) &&
      right.every(({ attempt }) => exchangeIn(attempt, one) !== undefined),
  );
  return [first, ...others];
}

/** Compares accepted answers with a refused one. @returns undefined if nothing tells them apart. */
function compared(
  right: readonly Submitted[],
  wrong: Submitted,
  request: Request,
): { readonly verdict: Verdict; readonly isWeak: boolean; readonly worth: number } | undefined {
  const taken = right.filter(({ attempt }) => !isError(exchangeIn(attempt, request)?.answer?.status ?? null));
  const seen = observed(wrong, request);
  if (taken.length === 0 || seen.length === 0) return undefined;
  const accepted = taken.map((one) => observed(one, request));
  const [differs, refused] = [telling(accepted, [seen]), telling([seen], accepted)];
  if (differs.length === 0 && refused.length === 0) return undefined;
  // a refusal may differ only by added features, such as errors
  const kept = differs.length > 0 ? differs : telling(accepted, []);
  // a difference in texts alone may only reflect the missing value
  const isWeak = (differs.length > 0 ? differs : refused).every((feature) => /^(?:says|shows)/.test(feature));
  const worth = apart(accepted, [seen]).length + apart([seen], accepted).length;
  return { verdict: { request, accepted: kept, refused, no_refusal: false }, isWeak, worth };
}

/**
 * Finds the features that tell an accepted form from a refused one: from earlier attempts in which values were missing,
 * then by sending the form empty, and with one field left out at a time. The form's request is the one whose answer
 * differs.
 * @param found attempts in which every value arrived.
 */
export async function learnVerdict(
  { play, progress, persons, earlier }: Sought,
  found: readonly Submitted[],
): Promise<Verdict> {
  const [base = {}] = persons;
  const first = progress.request;
  if (first === undefined) return { accepted: [], refused: [], no_refusal: false };
  const requests = requestsOf(found, first);
  const isTaken = ({ attempt }: Submitted): boolean =>
    requests.some((request) => !isError(exchangeIn(attempt, request)?.answer?.status ?? 400));
  // if a field was never found, even the best submission may have been refused
  const isBest = found.some(isTaken);
  const right = isBest ? found : earlier.filter(isTaken);
  if (right.length === 0) return { request: first, accepted: [], refused: [], no_refusal: false };
  const labels = progress.fields
    .filter(({ label, kind }) => label in base && kind !== "flag")
    .map(({ label }) => label);
  const without: Person[] = [{}, ...labels.slice(0, MOST_LEFT_OUT).map((label) => leftOut(base, label))];
  let weak: { readonly verdict?: Verdict; readonly worth: number } = { worth: 0 };
  const tried: Submitted[] = [];
  const strong = (wrong: Submitted, isAsked: boolean): Verdict | undefined => {
    tried.push(wrong);
    for (const request of requests) {
      const found = compared(right, wrong, request);
      if (found?.isWeak === false) return found.verdict;
      // the server may have accepted a form without a value: of texts alone, those of the answer that differs most
      // count, and of answers that differ as much, one to a form that was sent to be refused
      const worth = (found?.worth ?? 0) + (isAsked ? 0.5 : 0);
      if (found !== undefined && worth > weak.worth) weak = { verdict: found.verdict, worth };
    }
    return undefined;
  };
  for (const wrong of isBest ? earlier : found) {
    const found = strong(wrong, false);
    if (found !== undefined) return found;
  }
  for (const person of without) {
    const attempt = await play(person, false);
    const found = attempt === undefined ? undefined : strong({ person, attempt }, true);
    if (found !== undefined) return found;
  }
  return (
    weak.verdict ?? { request: first, accepted: constant([...right, ...tried], first), refused: [], no_refusal: true }
  );
}

/**
 * Lists the features that all answers have, none of which was a refusal: the status, and texts that the page did not
 * show before. Features with counts and days are left out, as they change. An answer without the others counts as
 * unknown.
 */
function constant(all: readonly Submitted[], request: Request): string[] {
  const answered = all.filter(({ attempt }) => exchangeIn(attempt, request) !== undefined);
  const before = new Set(answered.flatMap(({ attempt }) => attempt.before.map((line) => line.replace(/^shows /, ""))));
  const [first = [], ...rest] = answered.map((one) => observed(one, request));
  const own = first.filter((feature) => rest.every((other) => other.includes(feature)));
  const lasting = own.filter((f) => /^json has/.test(f) || (/^(?:says|json|leads)/.test(f) && !/\d/.test(f)));
  const fresh = lasting.filter((feature) => !before.has(feature.replace(/^says /, "")));
  return [...own.filter((feature) => feature.startsWith("status")), ...fresh.slice(0, MOST_KEPT)];
}

function leftOut(person: Person, label: string): Person {
  const { [label]: _, ...rest } = person;
  return rest as Record<string, FieldValue>;
}
