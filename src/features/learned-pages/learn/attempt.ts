import { EnvironmentFault } from "../../../env/browser/browser.js";
import { type Exchange, isSame, nameOf, pathOf, pathPattern } from "../../../env/browser/network/exchange.js";
import type { Session } from "../../../env/browser/session.js";
import { isError } from "../../../env/forms/judge.js";
import { isBlank } from "../../../env/forms/wire.js";
import type { FieldValue } from "../../../env/site.js";
import { buttonsOf, openersOf } from "../buttons.js";
import type { PlaceOf } from "../contract.js";
import { rest } from "../gestures.js";
import { arrive, openPage, type Press, pressChain, shownLines, stepOn } from "../operate.js";
import { shownIn } from "../place.js";
import { placeOf } from "../record/actions.js";
import type { LearnedField } from "./candidates.js";
import { type Complaints, complaints, textsNow } from "./complaints.js";
import {
  carriedBy,
  carriedIn,
  type Filling,
  fillStep,
  isCleared,
  type Person,
  type SearchState,
  settled,
} from "./fill-in.js";
import { type Options, optionsIn } from "./offered-options.js";

/** Limits of the search of one form. */
export interface LearnLimits {
  /** Time that one form may take, in milliseconds. */
  readonly formMs: number;
  /** Time that one attempt may take, in milliseconds. */
  readonly attemptMs: number;
  /** Most times that the form is sent. */
  readonly submissions: number;
  /** Ends the search early. */
  readonly signal?: AbortSignal | undefined;
}

/** Enters and sends one person's values on a fresh page. @returns undefined if the environment failed. */
export type Play = (person: Person, search: boolean) => Promise<Attempt | undefined>;

/** The result of filling the form in and sending it once. */
export interface Attempt extends Press {
  /** Labels of fields that the page marks as invalid, or shows an error text beside. */
  readonly invalid: readonly string[];
  /** Labels of fields that could not be operated. */
  readonly failed: readonly string[];
  /** Labels of fields that this person's other values hide, as an unticked checkbox does. */
  readonly absent: readonly string[];
  /** Texts of the page's complaints, unchanged. */
  readonly complaints: readonly string[];
  /** The options that the page offers for each label. */
  readonly options: Readonly<Record<string, Options>>;
  /** Lines of the page before the form was sent, with those of the untouched page. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** An attempt with the values that were entered. */
export interface Submitted {
  readonly person: Person;
  readonly attempt: Attempt;
}

/** Time that the form's request may take to appear after a click, in milliseconds. */
const SEND_MS = 2500;
/** Time that the next part of a form may take to appear after a click, in milliseconds. */
const STEP_MS = 800;
/** Time in which the form's request may follow another one, in milliseconds. */
const LINGER_MS = 400;
/** Most buttons that are tried in one attempt. */
const MOST_BUTTONS = 4;
type Attempting = Filling<Session>;
/** A button that may send the form, then the buttons of the confirmation windows that follow. */
type Chain = readonly [PlaceOf, ...PlaceOf[]];

/** Fills the form in with one person's values and sends it. @returns undefined if it was sent as often as it may be. */
export async function attempt(filling: Attempting): Promise<Attempt | undefined> {
  const { progress, surface: session } = filling;
  while (progress.sent < progress.mostSent && progress.signal?.aborted !== true) {
    try {
      const done = await once(filling);
      if (done !== "again") return done;
    } finally {
      progress.sent += session.traffic.exchanges.filter((e) => isPost(e, progress)).length;
    }
  }
  return undefined;
}

/** Tells whether a request may have sent the form: what its page sends by itself and to others does not count. */
function isPost(e: Exchange, { request }: SearchState): boolean {
  if (request !== undefined) return isSame(request, e);
  return !e.routine && (e.method === "GET" ? e.phase === "submit" && e.how === "navigation" : e.how !== "beacon");
}

async function once(filling: Attempting): Promise<Attempt | "again"> {
  const { surface: session, progress, person, search } = filling;
  const wanted = progress.fields.filter(({ label }) => label in person);
  const labels = wanted.map(({ label }) => label);
  await openPage(
    session,
    progress.url,
    progress.fields.map(({ label }) => label),
    progress.opener ?? (progress.fields.every(({ step }) => step > 0) ? progress.steps[0] : undefined),
  );
  await rest(session, 120);
  const untouched = await shownLines(session);
  progress.last = undefined;
  progress.filled = [];
  progress.typed = [];
  const done = await fillAll(filling, wanted);
  if (done === "spoilt") return "again";
  if (!search || progress.restsMs > 0) await settled(filling);
  // a page that sends a file by itself may do so later at another time: its load decides, not the form
  if (session.traffic.exchanges.some((e) => e.method !== "GET" && e.phase === "open" && !e.routine))
    for (const field of wanted) field.isUploaded ||= field.kind === "file";
  // a page that empties its form shows again what an entry has hidden: that is no answer
  const before = [...new Set([...untouched, ...(await shownLines(session))])];
  const options = await optionsIn(session, labels);
  const sent = await send(filling, labels);
  if (sent === "undone") return "again";
  const { result, labels: invalid, texts: quoted } = sent;
  if (result.exchange !== undefined) await arrive(session);
  const after = await shownLines(session).catch(() => []);
  return { ...result, ...done, invalid, complaints: quoted, options, before, after };
}

/**
 * Operates all fields.
 * @returns labels that could not be operated, and those that were not needed; `spoilt` if only a fresh page undoes a
 * try.
 */
async function fillAll(
  filling: Attempting,
  fields: readonly LearnedField[],
): Promise<Pick<Attempt, "failed" | "absent"> | "spoilt"> {
  const { surface: session, progress, person, search } = filling;
  const failed: string[] = [];
  const { spoiler } = progress;
  const hasValue = ({ label }: LearnedField): boolean => !isBlank(person[label] as FieldValue);
  // a field that appears only after another one may be missing for another person
  const isNeeded = (field: LearnedField): boolean => hasValue(field) && (search || !field.isDependent);
  let left = [...fields].sort((a, b) => Number(b === spoiler) - Number(a === spoiler));
  for (let step = 0; ; step++) {
    const before = search || progress.submit === undefined ? await buttonsOf(session) : [];
    progress.familiar = new Set(before.map(({ locator }) => locator));
    // recorded steps find no field of a later part by its label
    const isDue = (field: LearnedField): boolean =>
      field.current?.operation.actions === undefined || field.step <= step;
    const rest = await fillStep(filling, left.filter(isDue), failed);
    if (rest === "spoilt") return rest;
    left = [...rest, ...left.filter((field) => !isDue(field))];
    const isOver = left.length === 0 && progress.steps[step] === undefined;
    if (isOver || !(await goOn(filling, step, left, left.filter(isNeeded)))) break;
  }
  if (search && failed.length === 0) for (const field of left) field.goWithoutLabel();
  const absent = left.filter((field) => !isNeeded(field) && hasValue(field));
  return {
    failed: [...failed, ...left.filter(isNeeded).map(({ label }) => label)],
    absent: absent.map(({ label }) => label),
  };
}

/** Clicks what leads to a further part of the form: a closed section, a tab or a button. @returns whether one did. */
async function goOn(
  { surface: session, progress }: Attempting,
  step: number,
  left: readonly LearnedField[],
  needed: readonly LearnedField[],
): Promise<boolean> {
  const labels = left.map(({ label }) => label);
  const known = progress.steps[step];
  const unknown = async (): Promise<PlaceOf[]> =>
    (await Promise.all([openersOf(session), familiarFirst(session, progress)])).flatMap((all) =>
      all.slice(0, MOST_BUTTONS),
    );
  for (const button of known !== undefined ? [known] : needed.length > 0 ? await unknown() : []) {
    const then = left.flatMap(({ current }) => placeOf(current?.operation.actions ?? []) ?? []);
    const end = progress.steps[step + 1] ?? progress.submit;
    if (left.length === 0 && end !== undefined) then.push(end);
    if (!(await stepOn(session, button, labels, STEP_MS, then))) continue;
    progress.steps[step] = button;
    for (const field of needed) if (field.current?.operation.actions === undefined) field.step = step + 1;
    return true;
  }
  return false;
}

/** Lists the buttons that may send the form; those of a calendar or list that was left open come last. */
async function familiarFirst(session: Session, { familiar }: SearchState): Promise<PlaceOf[]> {
  const isNew = ({ locator }: PlaceOf): number => Number(!familiar.has(locator));
  return (await buttonsOf(session)).sort((a, b) => isNew(a) - isNew(b));
}

/** Lists buttons with text that have appeared since, for example in a confirmation window. */
async function newButtons(session: Session, before: readonly PlaceOf[]): Promise<PlaceOf[]> {
  const known = new Set(before.map(({ locator }) => locator));
  const now = await buttonsOf(session);
  return now.filter(({ locator }) => /^role=.*\p{L}/u.test(locator) && !known.has(locator)).slice(0, MOST_BUTTONS);
}

/** Names the requests in which a page has sent more values one by one than its form sends; undefined if none. */
function piecemeal(exchanges: readonly Exchange[], person: Person, most: number): string | undefined {
  const saved = exchanges.filter((e) => e.method !== "GET" && e.how !== "navigation" && e.phase === "open");
  const values = new Set(saved.flatMap((e) => (carriedBy(e, person) === 1 ? carriedIn(e, person) : [])));
  return values.size > 1 && values.size > most ? [...new Set(saved.map(nameOf))].join(", ") : undefined;
}

/**
 * Chooses the form's request: the one that carries most values; of equal ones that which was not sent before the press,
 * then the accepted one, then the last.
 */
function formOf(
  exchanges: readonly Exchange[],
  isForm: (e: Exchange) => boolean,
  person: Person,
): Exchange | undefined {
  const worth = (e: Exchange): number =>
    8 * carriedBy(e, person) +
    (e.how === "beacon" ? 0 : 4) +
    (exchanges.some((o) => o.phase === "open" && isSame({ method: e.method, path: pathOf(e) }, o)) ? 0 : 2) +
    (isError(e.answer?.status ?? null) ? 0 : 1);
  const sent = exchanges.filter((e) => e.phase === "submit" && isForm(e));
  return sent.reduce<Exchange | undefined>(
    (top, e) => (top === undefined || worth(e) >= worth(top) ? e : top),
    undefined,
  );
}

/** Notes the paths of requests that a page sends while it is filled in; a part that differs each time becomes `*`. */
function noteSaves(progress: SearchState, exchanges: readonly Exchange[]): void {
  const paths = new Set(exchanges.filter((e) => e.phase === "open" && e.method !== "GET").map(pathOf));
  const { saves } = progress;
  const fresh = [...paths].filter((path) => !saves.some((save) => pathPattern(save, path) === save));
  const idle = saves.filter((save) => ![...paths].some((path) => pathPattern(save, path) === save));
  const found = new Set(saves);
  for (const path of fresh) {
    const like = idle.find((save) => pathPattern(save, path) !== undefined);
    if (like !== undefined) found.delete(like);
    found.add((like && pathPattern(like, path)) ?? path);
  }
  progress.saves = [...found];
}

/** Presses the buttons that may send the form. @returns `undone` if one has cleared it, and there are others to try. */
async function send(
  filling: Attempting,
  labels: readonly string[],
): Promise<({ result: Press } & Complaints) | "undone"> {
  const { surface: session, progress, person } = filling;
  const { request } = progress;
  const isLike = (exchange: Exchange): boolean =>
    (progress.isShown && exchange.method !== "GET" && exchange.phase === "submit") ||
    carriedBy(exchange, person) > (exchange.method === "GET" && labels.length > 2 ? 1 : 0);
  const isForm = request === undefined ? isLike : (exchange: Exchange): boolean => isSame(request, exchange);
  const invalidNow = async (): Promise<string[]> => {
    const shown = await shownIn(session, labels);
    return labels.filter((_, i) => shown[i]?.invalid === true);
  };
  const before = await textsNow(session);
  const nothing: Complaints = { labels: [], texts: [] };
  const complained = (): Promise<Complaints> => complaints(session, before, labels).catch(() => nothing);
  let result: Press = { exchange: undefined, exchanges: session.traffic.exchanges, ms: 0 };
  let found = nothing;
  const isFresh = (chain: Chain): boolean => !progress.idle.has(JSON.stringify(chain));
  const all = progress.submit === undefined ? await familiarFirst(session, progress) : [progress.submit];
  const known = all.map((button): Chain => [button, ...progress.confirm]);
  if (!known.some(isFresh)) progress.idle.clear();
  const chains = known.filter(isFresh).slice(0, MOST_BUTTONS);
  for (const chain of chains) {
    const isOver = async (): Promise<boolean> => (await invalidNow()).length > 0;
    result = await pressChain(session, chain, isForm, SEND_MS, isOver, LINGER_MS).catch((error: unknown) => {
      if (session.page.isClosed() || error instanceof EnvironmentFault) throw error;
      return result;
    });
    // the request that was taken for the form's may have been another one
    const best = formOf(result.exchanges, isForm, person) ?? formOf(result.exchanges, isLike, person);
    noteSaves(progress, result.exchanges);
    if (!progress.isShown)
      progress.piecemeal ??= piecemeal(result.exchanges, person, best === undefined ? 0 : carriedBy(best, person));
    if (best !== undefined && progress.piecemeal === undefined) {
      [progress.submit, ...progress.confirm] = chain;
      const path = pathOf(best);
      const known = progress.request?.method === best.method ? progress.request.path : path;
      const pattern = progress.isShown ? pathPattern(known, path) : undefined;
      progress.request = { method: best.method, path: pattern ?? path };
      if (result.exchange !== undefined)
        progress.sendsWithinMs = Math.max(progress.sendsWithinMs, Math.round(result.ms));
      return { result: { ...result, exchange: best }, ...(await complained()) };
    }
    if (await isCleared(filling).catch(() => false)) {
      progress.idle.add(JSON.stringify(chain));
      if (known.some(isFresh)) return "undone";
    }
    found = await complained();
    const invalid = await invalidNow().catch(() => []);
    if (invalid.length > 0) return { result: unsent(result), labels: invalid, texts: found.texts };
    const asks = chain.length === 1 && progress.submit === undefined ? await newButtons(session, all) : [];
    // the new buttons may belong to a confirmation window
    chains.splice(chains.indexOf(chain) + 1, 0, ...asks.map((button): Chain => [chain[0], button]));
    if (asks.length > 0) continue;
    if (found.labels.length > 0) break;
    if (progress.fields.every(({ isSure, isLost }) => isSure || isLost)) progress.idle.add(JSON.stringify(chain));
  }
  return { result: unsent(result), ...found };
}

const unsent = (result: Press): Press => ({ ...result, exchange: undefined });
