import type { Surface } from "../../browser/surface.js";
import type { FieldValue } from "../../site.js";
import { says } from "../evidence.js";
import { placeAt } from "../hand.js";
import { waysOf } from "../operate.js";
import { enterField, fieldOf, leaveField, type Shown, setLabels, shownIn } from "../place.js";
import { type Kind, kindOfAll } from "../values.js";
import { LearnedField } from "./candidates.js";
import { fillStep, leave, newProgress, type Progress } from "./fill-in.js";

/** A value that a field of a page is to hold. */
export interface WantedField {
  readonly label: string;
  readonly value: FieldValue;
  /** The kind of the value where the page tells it; else it is told by the value. */
  readonly kind?: Kind | undefined;
}

/** Fillings in after which what is not found is given up: each ends where a try has met another field. */
const MOST_ROUNDS = 6;

/**
 * Fills in fields of a page that nobody has learned: one way after another is tried, from plain to odd, until the field
 * shows the value when it is left. The page is not loaded anew, and no form is sent.
 * @param labels all of the form: where another's begins a label's field ends.
 * @param limitMs time that all of it may take.
 * @returns the labels whose fields show their values.
 */
export async function fillUnlearned(
  surface: Surface,
  wanted: readonly WantedField[],
  labels: readonly string[],
  limitMs: number,
): Promise<Set<string>> {
  await enterField(surface.page);
  setLabels(surface.page, labels);
  const ways = await waysOf();
  const fields = wanted.map(
    ({ label, value, kind = kindOfAll([value]) }) => new LearnedField(label, kind, ways, [value], limitMs),
  );
  const person = Object.fromEntries(wanted.map(({ label, value }) => [label, value]));
  const progress: Progress = { ...newProgress(surface.page.url(), ways, fields), isOnly: true };
  const isOpen = (field: LearnedField): boolean => !field.isSure && !field.isLost;
  const end = performance.now() + limitMs;
  for (let round = 0; round < MOST_ROUNDS && performance.now() < end; round++) {
    const open = fields.filter(isOpen);
    if (open.length === 0 || (await fillStep(surface, progress, person, open, true, [])) !== "spoilt") break;
  }
  await leave(surface);
  await leaveField(surface);
  const shown = await shownIn(
    surface,
    fields.map(({ label }) => label),
  );
  const holds = (field: LearnedField, i: number): boolean => {
    const value = person[field.label] as FieldValue;
    // what was read when it was left may stand in a list that is closed now; stars and their like show no value
    const wasShown = field.current?.fate === "shown" || (field.isSure && shown[i]?.values.length === 0);
    return wasShown || says(field.kind, value, shown[i] as Shown);
  };
  return new Set(fields.filter(holds).map(({ label }) => label));
}

/** Options that are read of one list. */
const MOST_OPTIONS = 100;
/** Time that a list may take to open. */
const OPENS_MS = 250;

/** Runs IN THE PAGE: texts of the options that can be seen. */
function optionsNow(most: number): string[] {
  const found = new Set<string>();
  const visit = (root: Document | ShadowRoot): void => {
    for (const e of root.querySelectorAll("*")) {
      if (e.shadowRoot !== null) visit(e.shadowRoot);
      if (found.size >= most || !e.matches("[role=option],[role=menuitemradio],[role=treeitem]")) continue;
      const text = (e.textContent ?? "").replace(/\s+/g, " ").trim();
      if (text !== "" && e.checkVisibility({ visibilityProperty: true })) found.add(text);
    }
  };
  visit(document);
  return [...found];
}

/** The texts of the options that a label's list shows when it is opened; it is closed again. */
export async function optionsOf(surface: Surface, label: string): Promise<string[]> {
  await enterField(surface.page);
  const before = await surface.view.evaluate(optionsNow, MOST_OPTIONS);
  try {
    const place = await placeAt(surface, label, { locator: fieldOf(label), nth: 0 }, "");
    await place.click(place.control);
    await place.pause(OPENS_MS);
    const now = await surface.view.evaluate(optionsNow, MOST_OPTIONS);
    const options = now.filter((text) => !before.includes(text));
    // Escape would close a window that the form is in
    if (options.length > 0) await place.click(place.control);
    const still = await surface.view.evaluate(optionsNow, MOST_OPTIONS);
    if (options.length > 0 && still.some((text) => options.includes(text))) await surface.page.keyboard.press("Escape");
    return options;
  } catch {
    // what cannot be opened shows nothing
    return [];
  } finally {
    await leave(surface);
    await leaveField(surface);
  }
}
