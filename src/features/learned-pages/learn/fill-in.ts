import { messageOf } from "../../../core/errors.js";
import { PolicyFailure } from "../../../env/browser/episode.js";
import type { Exchange } from "../../../env/browser/network/exchange.js";
import type { Kind } from "../../../env/forms/values.js";
import { isBlank } from "../../../env/forms/wire.js";
import type { FieldValue } from "../../../env/site.js";
import { unfold } from "../buttons.js";
import type { PlaceOf } from "../contract.js";
import { type Evidence, evidenceOf, showsValue } from "../evidence.js";
import { closeOpenAt, leave, PATIENCE, rest, slowness } from "../gestures.js";
import { type Operation, operate } from "../operate.js";
import { boxIndex, isCovered, looksOf, type Shown, shownIn } from "../place.js";
import type { Surface } from "../surface.js";
import { partsOf } from "../values.js";
import type { Way } from "../way.js";
import type { LearnedField } from "./candidates.js";
import { survey } from "./survey.js";

/** One person's values by label. */
export type Person = Readonly<Record<string, FieldValue>>;

/** The state of a search: the knowledge of the form, and the state of the running attempt. */
export class SearchState {
  readonly steps: PlaceOf[] = [];
  submit: PlaceOf | undefined;
  confirm: PlaceOf[] = [];
  request: { readonly method: string; readonly path: string } | undefined;
  sendsWithinMs = 0;
  /** Pause before the form is sent, in milliseconds. */
  restsMs = 0;
  /** Number of further attempts that pause without a known need, to see whether the page changes a value back. */
  probes = 3;
  /** Counts how often the form was sent, and how often it may be. */
  sent = 0;
  mostSent = Number.POSITIVE_INFINITY;
  /** Ends the search early (Ctrl-C): its findings are kept. */
  signal: AbortSignal | undefined;
  /** The requests in which a page sends each field by itself, while it is filled in. */
  piecemeal: string | undefined;
  /** Set if people have shown the form: its request may hold no value, and fields may be saved before it. */
  isShown = false;
  /** The place that is there once the page is drawn, if no label is. */
  opener: PlaceOf | undefined;
  /** Paths of the requests that save fields by themselves. */
  saves: readonly string[] = [];
  /** Why the recorded steps of a field did not work, by label. */
  readonly reasons = new Map<string, string>();
  /** Counts how often the form was sent before it was complete. */
  early = 0;
  /** Counts the attempts that sent nothing although no field was in doubt. */
  silent = 0;
  /** The label of the field that is being entered. */
  at: string | undefined;
  /** The field that was operated last. */
  last: LearnedField | undefined;
  /** Fields that show their value on the open page. */
  filled: LearnedField[] = [];
  /** Other fields into which a text was typed. */
  typed: LearnedField[] = [];
  /** The field whose last try needed a fresh page; it is operated first there. */
  spoiler: LearnedField | undefined;
  /** Locators of the buttons that stood on the page before the fields of its present part were operated. */
  familiar: ReadonlySet<string> = new Set();
  /** Chains of buttons, as JSON, that sent nothing although every field was sure or lost. */
  readonly idle = new Set<string>();

  /** @param isOnly set on a user's page, which is not loaded anew to undo a try. */
  constructor(
    readonly url: string,
    readonly ways: ReadonlyMap<string, Way>,
    readonly fields: readonly LearnedField[],
    readonly isOnly = false,
  ) {}
}

/** A page while one person's values are entered. */
export interface Filling<S extends Surface = Surface> {
  readonly surface: S;
  readonly progress: SearchState;
  readonly person: Person;
  /** Tries further ways for fields without a known one; else uses the current way of each field. */
  readonly search: boolean;
}

/** Slowness of a page from which a failure may be due to a busy machine. */
const BUSY = 2;
/** Most early submissions that are undone. A page with more of them is one that saves at every change. */
const MOST_EARLY = 8;
/** Kinds whose values may be chosen from a list. */
const CHOSEN: ReadonlySet<Kind> = new Set(["list", "flag", "text"]);

/** Texts of a person's values as they may stand in a request. */
const textsOf = (person: Person): Set<string> =>
  new Set(
    Object.values(person)
      .flatMap((value) => (Array.isArray(value) ? value : [value]))
      .filter((value) => typeof value !== "boolean" && String(value).length > 1)
      .map(String),
  );

/** Lists the values of a person that a request carries unchanged. */
export function carriedIn(exchange: Exchange, person: Person): string[] {
  const texts = textsOf(person);
  return [...new Set(exchange.posted.map(([, value]) => value).filter((value) => texts.has(value)))];
}

export const carriedBy = (exchange: Exchange, person: Person): number => carriedIn(exchange, person).length;

/** The index of the box that shows a field's value. */
const boxOf = ({ current }: LearnedField): number => (current === undefined ? 0 : boxIndex(current.operation));

/** Operates the visible fields, and new ones. @returns the others, or `spoilt` if only a fresh page undoes a try. */
export async function fillStep(
  filling: Filling,
  fields: readonly LearnedField[],
  failed: string[],
): Promise<LearnedField[] | "spoilt"> {
  const labelsOf = (some: readonly LearnedField[]): string[] => some.map(({ label }) => label);
  let left = [...fields];
  for (let round = 0; left.length > 0 && round < 4; round++) {
    const shown = await shownIn(filling.surface, labelsOf(left));
    const present = left.filter(
      (field, i) => shown[i]?.present === true || (field.current !== undefined && !field.isByLabel),
    );
    if (present.length === 0) break;
    left.forEach((field, i) => {
      field.readPreset(shown[i] as Shown);
    });
    left = left.filter((field) => !present.includes(field));
    for (const field of present) {
      if (round > 0) field.isDependent = true;
      const done = await fillField(filling, field);
      if (done === "spoilt") filling.progress.spoiler = field;
      if (done === "spoilt" || done === "misplaced") return "spoilt";
      if (!done) failed.push(field.label);
    }
  }
  return left;
}

/**
 * Carries out the current operation of a field.
 * @param before the state of its box before; invalid if it was so before any try. @param look reads the state anew.
 * @returns the evidence that the box shows; `failed` if the operation throws, `spoilt` if it has changed looks before.
 */
async function carriedOut(
  { surface, progress }: Filling,
  field: LearnedField,
  { value, before, searching }: { readonly value: FieldValue; readonly before: Shown; readonly searching: boolean },
  look: () => Promise<Shown>,
): Promise<Evidence | "failed" | "spoilt"> {
  const { label, kind, current } = field;
  if (current === undefined) return "failed";
  let evidence: Evidence | "failed" = "failed";
  const looks = (): Promise<string> => looksOf(surface, label, boxOf(field));
  const isNew = searching && (current.fate === undefined || progress.isOnly);
  const looked = searching && current.isLikely ? await looks() : undefined;
  const hasOtherLooks = async (): Promise<boolean> => {
    if (looked === undefined) return false;
    await surface.page.mouse.move(1, 1);
    await leave(surface);
    return (await looks()) !== looked;
  };
  try {
    const patience = searching && !field.isPatient && current.fate === undefined ? 1 : PATIENCE;
    await operate(surface, progress.ways, label, current.operation, value, patience);
    await rest(surface, field.isPatient ? 200 : 40);
    evidence = evidenceOf(kind, value, before, await look());
  } catch (error) {
    if (error instanceof PolicyFailure || isGone(surface)) throw error;
    await closeOpenAt(surface, label);
    // a further try would undo a choice that shows only in the appearance of the field
    if (CHOSEN.has(kind) && !progress.isOnly && (await hasOtherLooks())) return "spoilt";
  }
  // a value may vanish when its field loses the focus
  if (isNew && evidence === "shown") {
    await leave(surface, progress.isOnly);
    if (evidenceOf(kind, value, before, await look()) !== "shown") evidence = "changed";
  }
  // a drawn control, such as stars, changes only its appearance
  if (evidence === "same" && (await hasOtherLooks())) evidence = "changed";
  return evidence;
}

const isGone = ({ page }: Surface): boolean => page.isClosed() || page.context().browser()?.isConnected() === false;

/** Shows a field that is folded away, and surveys its places once. */
async function prepare(surface: Surface, field: LearnedField, ways: SearchState["ways"]): Promise<void> {
  await unfold(surface, field.label);
  if (!field.surveyed && field.isByLabel) await survey(surface, field, ways);
}

/** Pause before the form is sent, for a page that takes a value over late or changes it back; in milliseconds. */
export const RESTS_MS = 1500;

/** Waits before the form is sent, if the page needs it, and enters again what the page has changed back. */
export async function settled(filling: Filling): Promise<void> {
  const { surface, progress } = filling;
  if (progress.restsMs === 0 && progress.probes-- <= 0) return;
  await leave(surface);
  await rest(surface, RESTS_MS);
  const isBlanked = ({ values }: Shown): boolean => !values.some((text) => partsOf(text).length > 0);
  const lost = [...(await lostOf(filling, progress.filled)), ...(await lostOf(filling, progress.typed, isBlanked))];
  if (lost.length === 0) return;
  progress.restsMs = RESTS_MS;
  for (const field of lost) await fillField({ ...filling, search: false }, field);
  await rest(surface, RESTS_MS);
}

/** Tells whether a text that stands in a field already has to be removed. */
const isEmptied = ({ isTyped, preset }: LearnedField, value: FieldValue): boolean =>
  value === "" && isTyped && typeof preset === "string" && preset !== "";

async function fillField(filling: Filling, field: LearnedField): Promise<boolean | "spoilt" | "misplaced"> {
  const { surface, progress, person, search } = filling;
  const value = person[field.label] as FieldValue;
  const { label, kind } = field;
  if (isBlank(value) && !isEmptied(field, value)) return true;
  field.begin();
  progress.at = label;
  if (field.current?.operation.actions !== undefined) return enteredAsRecorded(filling, field, value);
  const look = async (): Promise<Shown> => (await shownIn(surface, [label], [boxOf(field)]))[0] as Shown;
  const searching = search && field.good === undefined;
  const { [label]: _, ...others } = person;
  // a page that saves at every change does not send its form too early
  const sendsEarly = (): boolean =>
    searching &&
    surface.traffic.exchanges.some((e) => e.method !== "GET" && carriedBy(e, others) > 0) &&
    progress.early++ < MOST_EARLY;
  let pristine: Shown | undefined;
  let wasOver = false;
  if (searching) await prepare(surface, field, progress.ways);
  try {
    for (let { current } = field; current !== undefined; current = field.current) {
      const before = await look();
      if (progress.last !== undefined && sendsEarly()) {
        if (!progress.last.isWorthAgain()) progress.last.advance("failed");
        return "spoilt";
      }
      const isOver = searching && (await isCovered(surface, label));
      // a fresh page removes a window that a try has left open
      if (isOver && pristine !== undefined && !wasOver && !progress.isOnly) return "spoilt";
      wasOver ||= isOver;
      pristine ??= before;
      field.isClean = JSON.stringify(before) === JSON.stringify(pristine);
      // a further try does not undo a partial choice
      if (!field.isClean && CHOSEN.has(kind) && !progress.isOnly) return "spoilt";
      const from = { ...before, invalid: pristine.invalid };
      const evidence = await carriedOut(filling, field, { value, before: from, searching }, look);
      field.isHurried ||= slowness(surface) > BUSY;
      if (evidence === "failed" && searching && field.waitsOnce()) {
        await rest(surface, RESTS_MS);
        continue;
      }
      if (!searching) return isEntered(progress, field, evidence);
      // a key may send the form before it is complete
      const isEarly = sendsEarly();
      if (isEarly || evidence === "spoilt") {
        // marked before the others are moved back, as that changes the order
        field.advance("failed");
        if (isEarly && progress.early === 1) for (const other of progress.fields) other.avoidEnter();
        return "spoilt";
      }
      progress.last = field;
      const other = await misplaced(filling, field, evidence === "same");
      if (other !== undefined) {
        // the field whose place is less sure has overwritten the other
        (other.good === undefined && isFurther(other, field) ? other : field).doubt();
        return "misplaced";
      }
      if (evidence === "shown") {
        current.fate = "shown";
        if (showsValue(kind, value, await look())) progress.filled.push(field);
        preferEverywhere(progress, kind, current.operation);
        return true;
      }
      if (field.isWorthAgain()) {
        await closeOpenAt(surface, label);
        continue;
      }
      // the server decides on a candidate that may be right, and on one whose evidence has not changed
      if (field.mayBeRight(evidence)) current.fate = evidence;
      if (current.fate === evidence) return true;
      if (progress.signal?.aborted || field.isSpent() || !field.advance(evidence)) break;
      if (current.operation.way === "calendar") field.preferWritten((await look()).values.join(" "), value);
      await closeOpenAt(surface, label);
    }
  } finally {
    field.end();
  }
  field.settle();
  return false;
}

/** Carries out the recorded steps of a field; the server decides whether they are right. */
async function enteredAsRecorded(filling: Filling, field: LearnedField, value: FieldValue): Promise<boolean> {
  const { surface, progress } = filling;
  const { current, label, kind } = field;
  if (current === undefined) return false;
  try {
    await operate(surface, progress.ways, label, { ...current.operation, kind }, value, PATIENCE);
  } catch (error) {
    if (error instanceof PolicyFailure || isGone(surface)) throw error;
    progress.reasons.set(label, messageOf(error).split("\n")[0] ?? "");
    return false;
  }
  current.fate ??= "changed";
  current.isLikely = true;
  const [shown] = await shownIn(surface, [label]);
  return isEntered(progress, field, shown !== undefined && showsValue(kind, value, shown) ? "shown" : "changed");
}

/** Notes a field that was entered by its known way. @returns whether it was. */
function isEntered(progress: SearchState, field: LearnedField, evidence: string): boolean {
  if (evidence === "shown") progress.filled.push(field);
  else if (evidence !== "failed" && field.isTyped) progress.typed.push(field);
  return evidence !== "failed";
}

/** Lets the other fields of a kind try first what worked for one of them. */
function preferEverywhere({ fields }: SearchState, kind: LearnedField["kind"], operation: Operation): void {
  for (const other of fields) if (other.kind === kind && !other.surveyed) other.prefer(operation);
}

/** Tells whether a field's place is further from its label than another field's place. */
function isFurther(one: LearnedField, other: LearnedField): boolean {
  const [far, near] = [one, other].map(({ current }) =>
    current?.operation.locator.startsWith("label=") ? -1 : (current?.operation.nth ?? 0),
  );
  return (far ?? 0) > (near ?? 0);
}

/** Finds a filled field whose value the last operation replaced. @param isSame the operated field shows no change. */
async function misplaced(
  { surface, progress: { filled }, person }: Filling,
  { label, kind }: LearnedField,
  isSame: boolean,
): Promise<LearnedField | undefined> {
  const labels = filled.map((other) => other.label);
  const shown = await shownIn(surface, labels, filled.map(boxOf));
  const holds = (i: number, of: Kind, name: string): boolean =>
    showsValue(of, person[name] as FieldValue, shown[i] as Shown);
  const text = String(person[label]).toLowerCase();
  const begins = (written: string): boolean => written.length > 1 && text.startsWith(written.toLowerCase());
  const isOther = (i: number): boolean =>
    holds(i, kind, label) || shown[i]?.values.some(begins) === true || (isSame && shown[i]?.present === true);
  return filled.find((other, i) => !holds(i, other.kind, other.label) && isOther(i));
}

/** Lists the fields that are still there, but without their values. @param isLost decides in another way. */
async function lostOf(
  { surface, person }: Filling,
  filled: readonly LearnedField[],
  isLost?: (state: Shown) => boolean,
): Promise<LearnedField[]> {
  const labels = filled.map(({ label }) => label);
  const shown = await shownIn(surface, labels, filled.map(boxOf));
  const holds = ({ kind, label }: LearnedField, state: Shown): boolean =>
    showsValue(kind, person[label] as FieldValue, state);
  return filled.filter((field, i) => shown[i]?.present === true && (isLost?.(shown[i]) ?? !holds(field, shown[i])));
}

/** Tells whether most of the fields that were filled in have lost their values. */
export const isCleared = async (filling: Filling): Promise<boolean> =>
  (await lostOf(filling, filling.progress.filled)).length * 2 > filling.progress.filled.length;
