import { setTimeout as sleep } from "node:timers/promises";
import type { Locator, Page } from "playwright";
import type { Kind } from "../../env/forms/values.js";
import type { FieldValue } from "../../env/site.js";
import type { Variant } from "./contract.js";

export { KEYS } from "./contract.js";

/** The place of a label on the page, with the means to operate it. */
export interface Place {
  readonly page: Page;
  readonly label: string;
  /** The control to operate. */
  readonly control: Locator;
  /** The label's field with all its parts. */
  readonly box: Locator;
  /** Variant of the way that is used. */
  readonly variant: Variant;
  /** Playwright's options of a step: its time limit in milliseconds. */
  readonly limit: { readonly timeout: number };
  /** Clicks an element, or the drawing that covers it. */
  click(target: Locator): Promise<void>;
  /** Picks the option with this text in an open list, calendar or menu. */
  pick(text: string): Promise<void>;
  /** Tells whether a locator matches anything now, without waiting. */
  has(locator: Locator): Promise<boolean>;
  /** Runs a function, given as source text, IN THE PAGE, in an isolated script world. */
  look<R>(source: string): Promise<R>;
  /** Waits for the page to react to a step. */
  pause(ms?: number): Promise<void>;
}

/** A strategy of operating a control. A file of `ways/` exports one as `way`; its name is the file's name. */
export interface Way {
  /** Kinds of values that it is tried for. */
  readonly serves: readonly Kind[];
  /** CSS that a field has to contain for this way. */
  readonly needs?: string;
  /** Variants that are tried one by one, such as notations of a date. */
  readonly variants?: readonly Variant[];
  /** Set if a page may upload the value at once, and need the answer before it sends the form. */
  readonly sends?: true;
  /** Set if the way enters the value itself and chooses no option: the request then holds no code for it. */
  readonly isLiteral?: true;
  /** Set if the way replaces the text of an input by the value. */
  readonly isTyping?: true;
  /** Set if it clicks what is named like the value, or stands at its number: a change of looks alone counts as success. */
  readonly isMute?: true;
  /** Set if the way opens and clicks nothing: open lists do not disturb it, and it leaves none open. */
  readonly isQuiet?: true;
  /** Tells whether a variant can enter a value; without this function, every variant can. */
  takes?(value: FieldValue, variant: Variant): boolean;
  /** Enters the value. @throws Error if that cannot be done. */
  operate(place: Place, value: FieldValue): Promise<void>;
}

/** CSS of controls that take typed text. */
export const WRITABLE =
  "input:not([readonly],[aria-hidden=true],[type=radio],[type=checkbox],[type=file],[type=hidden],[type=range],[type=button],[type=submit],[type=reset],[type=image]),textarea:not([readonly]),[contenteditable]:not([contenteditable=false])";

/** The error of a way that cannot be carried out here. */
export class NoWay extends Error {}
/** Signals that a list has no option of the value's name. */
export class NoOption extends NoWay {}

export const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replace(/\s+/g, "\\s*");

/** Matches the name of an option that is followed by a description. */
export const described = (text: string): RegExp => new RegExp(`^\\s*${escaped(text)}(?![\\p{L}\\p{N}])`, "u");

/** Returns the first of several locators that is visible now. @throws NoWay if none is. */
export async function firstOf(place: Place, ...locators: readonly Locator[]): Promise<Locator> {
  for (const locator of locators) {
    const seen = locator.locator("visible=true").first();
    if (await place.has(seen)) return seen;
  }
  throw new NoWay("not there");
}

/** Opens a control by a click, and waits for what it shows. */
export async function opened(place: Place, target: Locator, ms?: number): Promise<void> {
  await place.click(target);
  await place.pause(ms);
}

/** Clicks a control, or its label or its parent if it is too small to be clicked. */
export async function clickLabel({ page, limit }: Pick<Place, "page" | "limit">, target: Locator): Promise<void> {
  const [x, y] = await target.evaluate(
    (e) => {
      const rect = (n: Element): DOMRect => n.getBoundingClientRect();
      const label = (e as HTMLInputElement).labels?.[0] ?? e.closest("label");
      // a label takes the clicks of a checkbox that a drawing covers
      const order = e.matches("input[type=radio],input[type=checkbox]") ? [label, e] : [e, label];
      const isBig = (n: Element): boolean => rect(n).width > 4 && rect(n).height > 4;
      // a control that is there for screen readers alone may be clipped by a parent of one pixel
      const isSeen = (n: Element): boolean =>
        isBig(n) &&
        (n.parentElement === null ||
          isBig(n.parentElement) ||
          getComputedStyle(n.parentElement).overflow === "visible");
      const stand = [...order, e.parentElement].find((n) => n != null && isSeen(n)) ?? e;
      const { x, y, width, height } = rect(stand);
      return [x + width / 2, y + height / 2] as const;
    },
    undefined,
    limit,
  );
  // a control that follows the pointer, such as stars, is redrawn before the click
  await page.mouse.move(x, y);
  const drawn = (): Promise<void> =>
    new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));
  await target.evaluate(drawn, undefined, limit).catch(() => undefined);
  await page.mouse.click(x, y);
}

/** Tells whether a checkbox, switch, option or toggle button is on; undefined if it has no such state. */
const isOn = (target: Locator, place: Place): Promise<boolean | undefined> =>
  target.evaluate(
    (e) => {
      if (e instanceof HTMLInputElement) return e.indeterminate ? undefined : e.checked;
      const states = ["aria-checked", "aria-pressed", "aria-selected"].map((name) => e.getAttribute(name));
      const known = states.find((value) => value !== null);
      return known == null || known === "mixed" ? undefined : known === "true";
    },
    undefined,
    place.limit,
  );

/** Turns a checkbox, switch, option or toggle button on or off, with a second click if the first had no effect. */
export async function turned(place: Place, target: Locator, on: boolean): Promise<void> {
  if ((await isOn(target, place)) === on) return;
  await place.click(target);
  // a second click on a slow page would undo the first
  for (const end = performance.now() + place.limit.timeout / 2; ; ) {
    await place.pause(40);
    const now = await isOn(target, place).catch(() => undefined);
    if (now === undefined || now === on) return;
    if (performance.now() > end) return clickLabel(place, target);
  }
}

export async function cleared(place: Place): Promise<void> {
  await place.click(place.control);
  await place.page.keyboard.press("ControlOrMeta+A");
  await place.page.keyboard.press("Delete");
}

/** Finds the control by its unique id from now on, if it has one: a calendar may rename it once it is open. */
export async function pinned(place: Place): Promise<Place> {
  const id = await place.control.getAttribute("id", place.limit);
  const control = place.page.locator(`[id=${JSON.stringify(id)}]`);
  return id && (await control.count()) === 1 ? { ...place, control } : place;
}

/** Replaces the text of a control and leaves it by a key. */
export async function retyped(at: Place, text: string, key: string): Promise<void> {
  const place = await pinned(at);
  const { page, control, limit } = place;
  await place.click(control);
  // a calendar that opens may take the focus
  await place.pause();
  await control.focus(limit);
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.press("Delete");
  await page.keyboard.type(text);
  await page.keyboard.press(key);
  await closeOpen(page, place.box);
}

/** CSS of windows, and of open parts that Escape closes before their window. */
const WINDOWS = "dialog,[role=dialog],[role=alertdialog],[aria-modal=true]";
const OPEN =
  "dialog[open],[role=dialog],[role=listbox],[role=menu],[role=grid],[role=tree],[aria-expanded=true]:is([aria-haspopup],[role=combobox])";

/** Time limit for an open list to disappear after a click beside it, in milliseconds. */
const CLOSES_MS = 300;

/**
 * Runs IN THE PAGE: tells whether anything is open over the window that a box stands in, and where its title can be
 * clicked, which changes nothing in the window.
 * @returns undefined if the box stands in no window.
 */
function windowOf(box: Element, [windows, open]: readonly [string, string]) {
  let own: Element | null = box;
  while (own !== null && !own.matches(windows))
    own = own.parentElement ?? (own.getRootNode() as Partial<ShadowRoot>).host ?? null;
  if (own === null) return undefined;
  const within = own;
  // a list that is a part of the window is not open over it
  const floats = (e: Element | null): boolean =>
    e !== null && e !== within && (/absolute|fixed/.test(getComputedStyle(e).position) || floats(e.parentElement));
  const isOver = (e: Element): boolean =>
    !e.contains(within) && (!within.contains(e) || e.matches("[aria-expanded]") || floats(e));
  const isUnder = [...document.querySelectorAll(open)].some(
    (e) => e.checkVisibility({ visibilityProperty: true }) && isOver(e),
  );
  const named = document.getElementById(within.getAttribute("aria-labelledby") ?? "");
  const titles = [...(named === null ? [] : [named]), ...within.querySelectorAll("h1,h2,h3,h4,h5,h6,[role=heading]")];
  const spots = titles.map((title) => {
    const { x, y, width, height } = title.getBoundingClientRect();
    return { title, x: x + width / 2, y: y + height / 2 };
  });
  // a title that answers to clicks opens and closes a section
  const free = spots.find(
    ({ title, x, y }) => document.elementFromPoint(x, y) === title && getComputedStyle(title).cursor !== "pointer",
  );
  return { isUnder, ...(free && { title: [free.x, free.y] as const }) };
}

/**
 * Closes what a field may have left open: by a click on the title of the window that the field stands in, as some
 * windows take Escape for themselves, too; else by Escape. The window stays open.
 */
export async function closeOpen(page: Page, box: Locator): Promise<void> {
  const look = () => box.evaluate(windowOf, [WINDOWS, OPEN] as const, { timeout: 500 }).catch(() => undefined);
  let own = await look();
  if (own?.isUnder === true && own.title !== undefined) {
    await page.mouse.click(...own.title);
    for (
      const end = performance.now() + CLOSES_MS;
      own?.isUnder === true && performance.now() < end;
      own = await look()
    )
      await sleep(30);
  }
  if (own?.isUnder !== false) await page.keyboard.press("Escape");
}

const OPTIONS = "[role=option],[role=menuitem],[role=menuitemcheckbox],[role=treeitem],[role=dialog]";

/** Closes an open list. Without one nothing is pressed, as Escape may clear the choice. */
export async function shut({ page, box, has }: Place): Promise<void> {
  const seen = (locator: Locator): Promise<number> => locator.locator("visible=true").count();
  const isOpen =
    (await has(box.locator("[aria-expanded=true]"))) ||
    (await seen(page.locator(OPTIONS))) > (await seen(box.locator(OPTIONS)));
  if (isOpen) await closeOpen(page, box);
}

export const itemsOf = (value: FieldValue): string[] => (Array.isArray(value) ? value : [String(value)]);
