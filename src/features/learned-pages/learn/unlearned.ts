import type { Kind } from "../../../env/forms/values.js";
import type { FieldValue } from "../../../env/site.js";
import { showsValue } from "../evidence.js";
import { leave, placeAt } from "../gestures.js";
import { type Operation, waysOf } from "../operate.js";
import { enterField, fieldOf, leaveField, type Shown, setLabels, shownIn } from "../place.js";
import type { Surface } from "../surface.js";
import { kindOfAll } from "../values.js";
import { LearnedField } from "./candidates.js";
import { fillStep, SearchState } from "./fill-in.js";

/** A value to enter into a field of a page. */
export interface WantedField {
  readonly label: string;
  readonly value: FieldValue;
  /** The kind of the value if the page tells it; else it is inferred from the value. */
  readonly kind?: Kind | undefined;
  /** The operation that a contract names: it is tried first. */
  readonly known?: Operation | undefined;
}

/** Most rounds of filling in: a round ends early if a try has changed another field. */
const MOST_ROUNDS = 6;

/**
 * Fills in fields of a page that was not learned: tries one way after another, plain ones first, until the field shows
 * the value without the focus. The page is not loaded anew, and no form is sent.
 * @param labels all labels of the form: a label's field ends where another label begins.
 * @param limitMs time limit for all fields together, in milliseconds.
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
    ({ label, value, kind = kindOfAll([value]), known }) =>
      new LearnedField(label, kind, ways, [value], limitMs, known && { ...known, hand: false }),
  );
  const person = Object.fromEntries(wanted.map(({ label, value }) => [label, value]));
  const progress = new SearchState(surface.page.url(), ways, fields, true);
  const filling = { surface, progress, person, search: true };
  const isOpen = (field: LearnedField): boolean => !field.isSure && !field.isLost;
  const end = performance.now() + limitMs;
  for (let round = 0; round < MOST_ROUNDS && performance.now() < end; round++) {
    const open = fields.filter(isOpen);
    if (open.length === 0 || (await fillStep(filling, open, [])) !== "spoilt") break;
  }
  await leave(surface);
  await leaveField(surface);
  const shown = await shownIn(
    surface,
    fields.map(({ label }) => label),
  );
  const holds = (field: LearnedField, i: number): boolean => {
    const value = person[field.label] as FieldValue;
    // a value shown before may be in a list that is closed now; controls such as stars never show it
    const wasShown = field.current?.fate === "shown" || (field.isSure && shown[i]?.values.length === 0);
    return wasShown || showsValue(field.kind, value, shown[i] as Shown);
  };
  return new Set(fields.filter(holds).map(({ label }) => label));
}

/** Most options that are read from one list. */
const MOST_OPTIONS = 100;
/** Time that a list may take to open, in milliseconds. */
const OPENS_MS = 250;

/** Lists the texts of the visible options. */
async function optionsNow({ page }: Surface): Promise<string[]> {
  const options = page.locator("[role=option],[role=menuitemradio],[role=treeitem]").locator("visible=true");
  const texts = (await options.allTextContents()).map((text) => text.replace(/\s+/g, " ").trim());
  return [...new Set(texts)].filter((text) => text !== "").slice(0, MOST_OPTIONS);
}

/** Opens a label's list, reads the texts of its options and closes it. @returns nothing if it cannot be opened. */
export async function optionsOf(surface: Surface, label: string): Promise<string[]> {
  await enterField(surface.page);
  const before = await optionsNow(surface);
  try {
    const place = await placeAt(surface, label, { locator: fieldOf(label), nth: 0 }, {});
    await place.click(place.control);
    await place.pause(OPENS_MS);
    const options = (await optionsNow(surface)).filter((text) => !before.includes(text));
    // a click comes first: Escape could close a window that contains the form
    if (options.length > 0) await place.click(place.control);
    const still = await optionsNow(surface);
    if (options.length > 0 && still.some((text) => options.includes(text))) await surface.page.keyboard.press("Escape");
    return options;
  } catch {
    return [];
  } finally {
    await leave(surface);
    await leaveField(surface);
  }
}
