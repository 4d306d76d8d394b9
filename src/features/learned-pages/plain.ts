import { PolicyFailure } from "../../env/browser/episode.js";
import type { Kind } from "../../env/forms/values.js";
import type { FieldValue } from "../../env/site.js";
import type { PlaceOf } from "./contract.js";
import { evidenceOf } from "./evidence.js";
import { closeOpenAt, leave, placeAt, rest, slowed } from "./gestures.js";
import { type Operation, operate, waysOf } from "./operate.js";
import {
  boxIndex,
  enterField,
  fieldOf,
  keepState,
  leaveField,
  looksOf,
  OPERABLE,
  PICKER,
  putBack,
  shownIn,
} from "./place.js";
import type { Surface } from "./surface.js";
import { type Way, WRITABLE } from "./way.js";

/** The ways in the order in which they are tried, where the field contains what a way needs. */
export const ORDER: readonly string[] = [
  ...["file", "toggle", "select", "boxes", "slider", "segments", "radio", "fill", "typed"],
  ...["pick-each", "open-pick", "type-pick"],
];

/** Places where a label's field may be: the control with its name, the smallest box around it, and the next larger. */
const placesOf = (label: string): readonly PlaceOf[] => [
  { locator: `label=${label}`, nth: 0 },
  { locator: fieldOf(label), nth: 0 },
  { locator: fieldOf(label), nth: 1 },
];

/** Time limits for finding a place, and for all tries of one field, in milliseconds. */
const FOUND_MS = 1500;
const FIELD_MS = 24_000;

/** What a place holds before anything is tried there. */
interface Facts {
  /** Positions and sizes of the control and its box: places with equal ones are the same place. */
  readonly corners: string;
  /** For each CSS selector of the ways: whether the field contains a match. */
  readonly holds: readonly boolean[];
  /** Set if the control is marked as a picker, or cannot be seen: its value is chosen from a list. */
  readonly isPicker: boolean;
  /** Texts that may name a notation: `dd.mm.yyyy`. */
  readonly hint: string;
}

/** Runs IN THE PAGE: reads the facts of a control and its box. */
async function factsOf(
  box: Element,
  [control, needs, picker, writable, operable]: readonly [HTMLElement, readonly string[], string, string, string],
): Promise<Facts> {
  const isPicker = control.matches(picker);
  // some inputs take no text until they have the focus
  const isShut = control.matches("input[readonly]");
  if (isShut) {
    control.focus();
    await new Promise((done) => setTimeout(done, 50));
  }
  const all: Element[] = [control, box];
  const walk = (node: Element | ShadowRoot): void => {
    for (const child of node.children) {
      if (all.length > 3000) return;
      all.push(child);
      if (child.shadowRoot !== null) walk(child.shadowRoot);
      walk(child);
    }
  };
  if (box.shadowRoot !== null) walk(box.shadowRoot);
  walk(box);
  const corners = (e: Element): number[] => {
    const { x, y, width, height } = e.getBoundingClientRect();
    return [x, y, width, height].map(Math.round);
  };
  // a writable control may exist only for scripts, beside the picker that a person sees
  const written = all.find((e) => e.matches(writable) && e.checkVisibility({ visibilityProperty: true }));
  const hidden = written?.checkVisibility({ opacityProperty: true }) === false;
  // a label may hide its empty input until it is clicked: then there is nothing else to operate
  const isBeside = (e: Element): boolean =>
    e !== written && e.matches(operable) && e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const names = ["placeholder", "aria-placeholder", "data-placeholder", "title", "aria-label"];
  const texts = names.flatMap((name) => all.slice(0, 60).map((e) => e.getAttribute(name) ?? ""));
  const facts = {
    corners: JSON.stringify([corners(control), corners(box)]),
    holds: needs.map((css) => all.some((e) => e.matches(css))),
    isPicker: isPicker || (hidden && all.some(isBeside)),
    hint: [...texts, (box.textContent ?? "").slice(0, 200)].join(" "),
  };
  if (isShut) control.blur();
  return facts;
}

/** Replaces an example of a day by its pattern: `24.12.2026` by `DD.MM.YYYY`, unless it can be read in two ways. */
const exampled = (hint: string): string =>
  hint.replace(/\b(\d\d)([./-])(\d\d)\2\d{4}\b/g, (text, a: string, by: string, b: string) => {
    if (Number(a) > 12 === Number(b) > 12) return text;
    return `${Number(a) > 12 ? "DD" : "MM"}${by}${Number(a) > 12 ? "MM" : "DD"}${by}YYYY`;
  });

/** Tells whether a hint names the notation of a day. */
const isNamed = (day: string | undefined, hint: string): boolean =>
  day !== undefined &&
  /[./-]/.test(day) &&
  exampled(hint)
    .toUpperCase()
    .split(/[^A-Z./-]+/)
    .includes(day);

/** Lists the operations that fit a place, in order. */
function operationsAt(
  place: PlaceOf,
  { holds, isPicker, hint }: Facts,
  ways: readonly (readonly [name: string, way: Way])[],
  value: FieldValue,
  selectors: readonly string[],
): Operation[] {
  const fitting = ways.filter(([, { needs }]) => needs === undefined || holds[selectors.indexOf(needs)] === true);
  const last = ([, { isTyping }]: readonly [string, Way]): number => Number(isPicker && isTyping === true);
  const sorted = fitting.toSorted((a, b) => last(a) - last(b));
  return sorted.flatMap(([name, { variants = [{}], takes }]) =>
    variants
      .filter((variant) => takes?.(value, variant) ?? true)
      .toSorted((a, b) => Number(isNamed(b.day, hint)) - Number(isNamed(a.day, hint)))
      .map((variant) => ({ ...place, way: name, variant })),
  );
}

/** Yields what may enter a value, plain operations first. A place that is missing, or the same as another, has none. */
async function* operationsOf(
  surface: Surface,
  label: string,
  value: FieldValue,
  ways: readonly (readonly [name: string, way: Way])[],
  first: Operation | undefined,
): AsyncGenerator<Operation> {
  if (first !== undefined) yield first;
  const selectors = [...new Set(ways.flatMap(([, { needs = [] }]) => needs))];
  const seen = new Set<string>();
  const timeout = slowed(surface, FOUND_MS);
  for (const place of placesOf(label)) {
    const facts = await placeAt(surface, label, place, {})
      .then(async ({ box, control: at }) => {
        const control = await at.elementHandle({ timeout });
        const asking = [control, selectors, PICKER, WRITABLE, OPERABLE];
        return box.evaluate(factsOf as (box: Element, argument: unknown) => Promise<Facts>, asking, { timeout });
      })
      .catch(() => undefined);
    if (facts === undefined || seen.has(facts.corners)) continue;
    seen.add(facts.corners);
    yield* operationsAt(place, facts, ways, value, selectors);
  }
}

/**
 * Carries out an operation, and takes the focus from the field.
 * @returns whether the field then shows the value, or has other looks where a way clicks what is named like the value.
 */
async function succeeds(
  surface: Surface,
  ways: ReadonlyMap<string, Way>,
  { label, kind, value }: { readonly label: string; readonly kind: Kind; readonly value: FieldValue },
  operation: Operation,
  patience: number | undefined,
): Promise<boolean> {
  const nth = boxIndex(operation);
  const look = async () => (await shownIn(surface, [label], [nth]))[0];
  const isMute = ways.get(operation.way)?.isMute === true;
  const [before, looks] = [await look(), isMute ? await looksOf(surface, label, nth) : ""];
  await operate(surface, ways, label, { ...operation, kind }, value, patience);
  await rest(surface, 40);
  if (isMute) await surface.page.mouse.move(1, 1);
  await leave(surface, true);
  const after = await look();
  if (before === undefined || after === undefined) return false;
  const evidence = evidenceOf(kind, value, before, after);
  if (evidence === "shown" || !isMute || after.invalid) return evidence === "shown";
  return evidence === "changed" ? kind !== "flag" : (await looksOf(surface, label, nth)) !== looks;
}

/**
 * Enters a value into the field of a label: tries the ways that fit the field in a fixed order, until it shows the value
 * without the focus. After a try that fails, what stood there is put back. The labels of the form have to be known
 * (`setLabels`).
 * @param patience factor on the time limits of a step. @param first an operation that is tried before all others.
 * @returns the operation that entered it; undefined if none did.
 * @throws Error if the page is gone.
 */
export async function enterPlainly(
  surface: Surface,
  label: string,
  kind: Kind,
  value: FieldValue,
  patience?: number,
  first?: Operation,
): Promise<Operation | undefined> {
  const { page } = surface;
  await enterField(page);
  const all = await waysOf();
  const ways = ORDER.flatMap((name): [string, Way][] => {
    const way = all.get(name);
    return way?.serves.includes(kind) ? [[name, way]] : [];
  });
  await keepState(surface, label);
  const end = performance.now() + slowed(surface, FIELD_MS);
  try {
    for await (const operation of operationsOf(surface, label, value, ways, first)) {
      try {
        if (await succeeds(surface, all, { label, kind, value }, operation, patience)) return operation;
      } catch (error) {
        const isGone = page.isClosed() || page.context().browser()?.isConnected() === false;
        if (error instanceof PolicyFailure || isGone) throw error;
      }
      await closeOpenAt(surface, label);
      await putBack(surface).catch(() => undefined);
      if (performance.now() > end) break;
    }
    return undefined;
  } finally {
    await leaveField(surface).catch(() => undefined);
  }
}
