import type { Locator, Page } from "playwright";
import type { FieldValue } from "../site.js";
import type { Kind } from "./values.js";

/** A place on the page that a label stands for, and what a way needs to work on it. */
export interface Place {
  readonly page: Page;
  readonly label: string;
  /** Control that the label names, which is operated. */
  readonly control: Locator;
  /** The label's field with all its parts. */
  readonly box: Locator;
  /** Variant of the way that is used. */
  readonly variant: string;
  /** Playwright's options of a step: how long it may take. */
  readonly limit: { readonly timeout: number };
  /** Clicks an element, or what lies over it. */
  click(target: Locator): Promise<void>;
  /** Picks what is called so in an open list, calendar or menu. */
  pick(text: string): Promise<void>;
  /** Tells whether there is one of these now, without waiting. */
  has(locator: Locator): Promise<boolean>;
  /** Runs a function, given as source text, IN THE PAGE, in a script world of our own. */
  look<R>(source: string): Promise<R>;
  /** Lets the page do what follows on a step. */
  pause(ms?: number): Promise<void>;
}

/** A way to put a value into a control. A file of `ways/` exports one as `way`; its name is the file's. */
export interface Way {
  /** Kinds of values that it is tried for. */
  readonly serves: readonly Kind[];
  /** Oddness: plain ways are tried first. */
  readonly oddness: number;
  /** CSS of what a field has to hold for it. */
  readonly needs?: string;
  /** CSS of what makes it likely where a field holds it. */
  readonly signs?: string;
  /** Forms of it that are tried one by one, as notations of a date. */
  readonly variants?: readonly string[];
  /** A page may send what is put in at once, and need the answer before it sends the form. */
  readonly sends?: true;
  /** It puts a value in by its letters, its place or its size, and chooses no option: no code stands for what it writes. */
  readonly isLiteral?: true;
  /** It opens nothing and clicks nothing: no list or calendar is in its way, and none is left in the way of others. */
  readonly isQuiet?: true;
  /** Tells whether a value can be put in by a variant; any can where it is not said. */
  takes?(value: FieldValue, variant: string): boolean;
  /** @throws where it cannot be done. */
  operate(place: Place, value: FieldValue): Promise<void>;
}

/** CSS of what a person writes into. */
export const WRITABLE =
  "input:not([readonly],[type=radio],[type=checkbox],[type=file],[type=hidden],[type=range],[type=button],[type=submit],[type=reset],[type=image]),textarea:not([readonly]),[contenteditable]:not([contenteditable=false])";

/** A way's step cannot be done here. */
export class NoWay extends Error {}

/** The first of several locators that is there now and can be seen. @throws NoWay where none is. */
export async function firstOf(place: Place, ...locators: readonly Locator[]): Promise<Locator> {
  for (const locator of locators) {
    const seen = locator.locator("visible=true").first();
    if (await place.has(seen)) return seen;
  }
  throw new NoWay("not there");
}

/** Runs IN THE PAGE: the buttons that can be seen, with their middles. */
function buttonsNow(): { readonly x: number; readonly y: number; readonly text: string }[] {
  const found: { x: number; y: number; text: string }[] = [];
  const visit = (node: Document | ShadowRoot): void => {
    for (const e of node.querySelectorAll("*")) {
      if (e.shadowRoot !== null) visit(e.shadowRoot);
      // what stands in a list is an option
      if (!e.matches("button,[role=button],input[type=button],input[type=submit]") || e.closest("ul,ol")) continue;
      const { x, y, width, height } = e.getBoundingClientRect();
      const text = (e instanceof HTMLInputElement ? e.value : (e.textContent ?? "")).trim();
      const isSeen = e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (width > 4 && height > 4 && text !== "" && isSeen) found.push({ x: x + width / 2, y: y + height / 2, text });
    }
  };
  visit(document);
  return found;
}

/** Opens a window that has buttons of its own, chooses there, and clicks the last of them: it takes over what was chosen. */
export async function confirmed(place: Place, open: () => Promise<void>, choose: () => Promise<void>): Promise<void> {
  const look = () => place.look<ReturnType<typeof buttonsNow>>(String(buttonsNow));
  const before = await look();
  await open();
  await choose();
  await place.pause();
  const now = await look();
  const countOf = (buttons: typeof now, text: string): number => buttons.filter((b) => b.text === text).length;
  // a button that an open list has moved is no new one
  const last = now.filter(({ text }) => countOf(now, text) > countOf(before, text)).at(-1);
  if (last === undefined) throw new NoWay("nothing confirms");
  await place.page.mouse.click(last.x, last.y);
  await place.pause(200);
}

/** Clicks a control, or what stands for it where it cannot be seen itself: its label, or what it lies in. */
export async function clickLabel({ page, limit }: Pick<Place, "page" | "limit">, target: Locator): Promise<void> {
  const [x, y] = await target.evaluate(
    (e) => {
      const rect = (n: Element): DOMRect => n.getBoundingClientRect();
      const label = (e as HTMLInputElement).labels?.[0] ?? e.closest("label");
      // a label takes a box's clicks where a picture of the box is drawn over it
      const order = e.matches("input[type=radio],input[type=checkbox]") ? [label, e] : [e, label];
      const stand = [...order, e.parentElement].find((n) => n != null && rect(n).width > 4 && rect(n).height > 4) ?? e;
      const { x, y, width, height } = rect(stand);
      return [x + width / 2, y + height / 2] as const;
    },
    undefined,
    limit,
  );
  // what follows the pointer, as stars do, takes a click where it has drawn it
  await page.mouse.move(x, y);
  const drawn = (): Promise<void> =>
    new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));
  await target.evaluate(drawn, undefined, limit).catch(() => undefined);
  await page.mouse.click(x, y);
}

/** Tells whether a box, switch, option or button that stays pressed is on; undefined where it does not say. */
const isOn = (target: Locator, place: Place): Promise<boolean | undefined> =>
  target.evaluate(
    (e) => {
      if (e instanceof HTMLInputElement) return e.indeterminate ? undefined : e.checked;
      const said = ["aria-checked", "aria-pressed", "aria-selected"].map((name) => e.getAttribute(name));
      const known = said.find((value) => value !== null);
      return known == null || known === "mixed" ? undefined : known === "true";
    },
    undefined,
    place.limit,
  );

/** Turns something on or off that says how it is; it is clicked once more where a click did nothing. */
export async function turned(place: Place, target: Locator, on: boolean): Promise<void> {
  if ((await isOn(target, place)) === on) return;
  await place.click(target);
  // a page that is slow is not clicked back
  for (const end = performance.now() + place.limit.timeout / 2; ; ) {
    await place.pause(40);
    const now = await isOn(target, place).catch(() => undefined);
    if (now === undefined || now === on) return;
    if (performance.now() > end) return clickLabel(place, target);
  }
}

/** Puts the cursor into a control, everything in it selected, and clears it. */
export async function cleared(place: Place): Promise<void> {
  await place.click(place.control);
  await place.page.keyboard.press("ControlOrMeta+A");
  await place.page.keyboard.press("Delete");
}

/** A place whose control is found by an id that is its own: a calendar may give it another name once it is open. */
export async function pinned(place: Place): Promise<Place> {
  const id = await place.control.getAttribute("id", place.limit);
  const control = place.page.locator(`[id=${JSON.stringify(id)}]`);
  return id && (await control.count()) === 1 ? { ...place, control } : place;
}

/** Writes a text over what a control holds, and leaves it by a key. */
export async function retyped(at: Place, text: string, key: string): Promise<void> {
  const place = await pinned(at);
  const { page, control, limit } = place;
  await place.click(control);
  // a calendar that opens may take the cursor
  await place.pause();
  await control.focus(limit);
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.press("Delete");
  await page.keyboard.type(text);
  await page.keyboard.press(key);
  await page.keyboard.press("Escape");
}

const OPTIONS = "[role=option],[role=menuitem],[role=menuitemcheckbox],[role=treeitem],[role=dialog]";

/** Closes a list that stands open: where none does the key may clear what was chosen. */
export async function shut({ page, box, has }: Place): Promise<void> {
  const seen = (locator: Locator): Promise<number> => locator.locator("visible=true").count();
  const isOpen =
    (await has(box.locator("[aria-expanded=true]"))) ||
    (await seen(page.locator(OPTIONS))) > (await seen(box.locator(OPTIONS)));
  if (isOpen) await page.keyboard.press("Escape");
}

export const itemsOf = (value: FieldValue): string[] => (Array.isArray(value) ? value : [String(value)]);
