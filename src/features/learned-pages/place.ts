import type { Locator, Page } from "playwright";
import { playwright } from "../../env/browser/playwright.js";
import { BOXES, type BoxesOf } from "./boxes.js";
import type { PlaceOf } from "./contract.js";
import { isCode, locatedBy } from "./record/locate.js";
import type { Surface } from "./surface.js";
import { escaped } from "./way.js";

/** The state of a field as a person sees it. */
export interface Shown {
  /** All visible text in its box. */
  readonly text: string;
  /** Values of inputs. */
  readonly values: readonly string[];
  /** Values of hidden inputs, which are sent. */
  readonly held: readonly string[];
  /** Names of ticked, chosen or pressed elements. */
  readonly on: readonly string[];
  /** Set if the box is there and laid out; in a later part of the form it is not. */
  readonly present: boolean;
  /** Set if a part of it is marked as invalid. */
  readonly invalid: boolean;
  /** Set if a checkbox or switch in it is neither on nor off. */
  readonly unset: boolean;
}

/** Runs IN THE PAGE: reads the state of each label's field. */
function observe(
  boxes: BoxesOf,
  { labels, nth, all }: { labels: readonly string[]; nth: readonly number[]; all: readonly string[] },
): Shown[] {
  const nameOf = (e: Element): string => {
    const labelled = (e as HTMLInputElement).labels?.[0]?.textContent;
    const by = (e.getAttribute("aria-labelledby") ?? "")
      .split(/\s+/)
      .map((id) => (id === "" ? "" : ((e.getRootNode() as Document).getElementById?.(id)?.textContent ?? "")))
      .join(" ")
      .trim();
    const own = e.getAttribute("aria-label") ?? (by !== "" ? by : (labelled ?? e.textContent));
    const around = e.parentElement?.querySelectorAll("input").length === 1 ? e.parentElement.textContent : "";
    // the text of a custom element stands in a slot
    const slotted = (e.getRootNode() as ShadowRoot).host?.textContent;
    const [text] = [own, around, slotted]
      .map((text) => (text ?? "").replace(/\s+/g, " ").trim())
      .filter((text) => text !== "");
    return (
      text ?? String((e as HTMLInputElement).value ?? e.getAttribute("value") ?? e.parentElement?.textContent ?? "")
    );
  };
  return labels.map((label, i): Shown => {
    const box = boxes(label, all)[nth[i] ?? 0];
    if (box === undefined)
      return { text: "", values: [], held: [], on: [], present: false, invalid: false, unset: false };
    const values: string[] = [];
    const held: string[] = [];
    const on: string[] = [];
    let text = "";
    const marks = { invalid: false, unset: false };
    // text for screen readers alone stands in a box of one pixel
    const isAloud = (e: Element): boolean => {
      const { width, height } = e.getBoundingClientRect();
      return width > 0 && height > 0 && width <= 1 && height <= 1;
    };
    const visit = (node: Node, depth: number, above = false): void => {
      if (depth > 50 || values.length > 300 || text.length > 20000) return;
      const aloud = above || (node instanceof Element && isAloud(node));
      if (node.nodeType === 3 && !aloud) text += `${node.nodeValue ?? ""} `;
      if (!(node instanceof Element) && !(node instanceof ShadowRoot)) return;
      if (node instanceof Element) {
        if (/^(?:SCRIPT|STYLE|TEMPLATE)$/i.test(node.nodeName)) return;
        const input = node as HTMLInputElement;
        const role = node.getAttribute("role") ?? "";
        if (
          /^(?:checkbox|radio)$/.test(input.type) ||
          /^(?:checkbox|radio|switch|option|button|tab|menuitemradio|menuitemcheckbox|treeitem)$/.test(role) ||
          node.hasAttribute("aria-pressed")
        ) {
          const ticked =
            input.checked === true ||
            ["aria-checked", "aria-selected", "aria-pressed"].some((a) => node.getAttribute(a) === "true");
          if (ticked) on.push(nameOf(node));
          if (input.indeterminate === true || node.getAttribute("aria-checked") === "mixed") marks.unset = true;
        } else if (node.nodeName === "SELECT")
          for (const o of (node as HTMLSelectElement).selectedOptions) values.push(o.text.trim());
        else if (input.type === "file") for (const f of input.files ?? []) values.push(f.name);
        else if (node.localName.includes("-") && (input.checked === true || input.value !== undefined)) {
          if (input.checked === true) on.push(nameOf(node));
          if (typeof input.value === "string" && input.value !== "") values.push(input.value);
        } else if (/^(?:INPUT|TEXTAREA)$/.test(node.nodeName))
          (input.type === "hidden" ? held : values).push(String(input.value));
        const number = node.getAttribute("aria-valuenow");
        const now = node.getAttribute("aria-valuetext") ?? number;
        if (now !== null) values.push(now);
        if (number !== null && number !== now) values.push(number);
        if (
          node.getAttribute("aria-invalid") === "true" ||
          (input.willValidate === true && input.validity?.valid === false)
        )
          marks.invalid = true;
        if (node.nodeName === "SELECT") return;
        if (node.shadowRoot !== null) visit(node.shadowRoot, depth + 1, aloud);
      }
      for (const child of node.childNodes) visit(child, depth + 1, aloud);
    };
    visit(box, 0);
    if (box.matches("label") && box.getAttribute("for")) {
      const other = (box.getRootNode() as Document).getElementById?.(box.getAttribute("for") ?? "");
      if (other) visit(other, 0);
    }
    const present = box.checkVisibility({ visibilityProperty: true }) || getComputedStyle(box).display === "contents";
    return { text: text.replace(/\s+/g, " ").trim(), values, held, on, present, ...marks };
  });
}

/** Runs IN THE PAGE: reads classes, styles and hidden values in a label's field, which may change without any text. */
function look(boxes: BoxesOf, { label, nth, all }: { label: string; nth: number; all: readonly string[] }): string {
  const parts: string[] = [];
  const visit = (e: Element): void => {
    if (parts.length > 2000) return;
    const states = ["class", "style", "aria-checked", "aria-valuenow", "fill", "d"].map((name) => e.getAttribute(name));
    const hidden = (e as HTMLInputElement).type === "hidden" ? (e as HTMLInputElement).value : "";
    parts.push(`${e.localName} ${states.join(" ")} ${hidden}`);
    for (const child of [...(e.shadowRoot?.children ?? []), ...e.children]) visit(child);
  };
  const box = boxes(label, all)[nth];
  if (box !== undefined) visit(box);
  return parts.join("\n");
}

/** Runs IN THE PAGE: tells whether a label's field is gone, or its centre or its control's centre is covered. */
function covers(
  boxes: BoxesOf,
  { label, all, operable }: { label: string; all: readonly string[]; operable: string },
): boolean {
  const [box] = boxes(label, all);
  if (box === undefined) return true;
  const isIn = (node: Element | null, outer: Element): boolean => {
    for (
      let e = node;
      e !== null;
      e = e.assignedSlot ?? e.parentElement ?? ((e.getRootNode() as ShadowRoot).host || null)
    )
      if (e === outer) return true;
    return false;
  };
  const seen = [...box.querySelectorAll(operable)].filter(
    (e) => e.checkVisibility({ visibilityProperty: true }) && e.clientHeight > 4,
  );
  return [box, ...seen.slice(0, 1)].some((part) => {
    const { x, y, width, height } = part.getBoundingClientRect();
    const at = [x + width / 2, y + height / 2] as const;
    let top = document.elementFromPoint(...at);
    for (let inner = top?.shadowRoot?.elementFromPoint(...at); inner != null && inner !== top; ) {
      top = inner;
      inner = top.shadowRoot?.elementFromPoint(...at);
    }
    // an element on top that is a part of the field, or that contains the field, does not cover it
    return top !== null && !isIn(top, box) && !isIn(box, top);
  });
}

/** The labels of the form on a page: a label's field ends where another label begins. */
const LABELS = new WeakMap<Page, readonly string[]>();
export const setLabels = (page: Page, labels: readonly string[]): void => void LABELS.set(page, labels);

/** Runs a function of this file in the page, with the function that finds a label's boxes. */
function inBoxes<A extends object, T>(
  surface: Surface,
  run: (boxes: BoxesOf, argument: A & { all: readonly string[] }) => T,
  argument: A,
): Promise<T> {
  const source = `function (argument) { return (${run})(${BOXES}, argument); }`;
  return surface.view.run<T>(source, { ...argument, all: LABELS.get(surface.page) ?? [] });
}

/** Reads the state of each label's field. @param nth for each label the index of the box to read; 0 by default. */
export const shownIn = (surface: Surface, labels: readonly string[], nth: readonly number[] = []): Promise<Shown[]> =>
  inBoxes(surface, observe, { labels, nth });

/** Reads the appearance of a label's field, beside its texts and values. */
export const looksOf = (surface: Surface, label: string, nth: number): Promise<string> =>
  inBoxes(surface, look, { label, nth });

/** Tells whether a label's field is covered or gone. */
export const isCovered = (surface: Surface, label: string): Promise<boolean> =>
  inBoxes(surface, covers, { label, operable: OPERABLE });

let registered: Promise<void> | undefined;

/** Registers the selector `field="Label"`. Call it before opening a context that uses it. */
export function registerField(): Promise<void> {
  const engine = `{ queryAll(root, label) { return ${BOXES}(...JSON.parse(label)); }, query(root, label) { return this.queryAll(root, label)[0] ?? null; } }`;
  registered ??= playwright().selectors.register("field", { content: `(${engine})` }, { contentScript: true });
  return registered;
}

/** Runs IN THE PAGE: notes how to put back what the controls in a label's boxes hold now. */
function noteState(boxes: BoxesOf, { label, all }: { label: string; all: readonly string[] }): void {
  const world = globalThis as { putsBack?: (() => void)[] };
  const inputs = new Set<Element>();
  const visit = (e: Element): void => {
    if (e.matches("input,select,textarea,[aria-checked],[aria-pressed],[contenteditable=true]")) inputs.add(e);
    for (const child of [...(e.shadowRoot?.children ?? []), ...e.children]) visit(child);
  };
  for (const box of boxes(label, all).slice(0, 2)) visit(box);
  const set = (e: Element, name: string, value: unknown): void => {
    // the setter of the prototype: frameworks replace that of the element
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), name)?.set?.call(e, value);
    for (const type of ["input", "change"]) e.dispatchEvent(new Event(type, { bubbles: true }));
  };
  const puts = (e: Element): (() => void) => {
    if (e instanceof HTMLSelectElement) {
      const chosen = [...e.options].filter((option) => option.selected);
      const isSame = (): boolean => [...e.options].every((option) => option.selected === chosen.includes(option));
      return () => {
        if (isSame()) return;
        for (const option of e.options) option.selected = chosen.includes(option);
        for (const type of ["input", "change"]) e.dispatchEvent(new Event(type, { bubbles: true }));
      };
    }
    const input = e as HTMLInputElement;
    if (e instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(e.type)) {
      const { checked } = e;
      return () => {
        if (input.checked === checked) return;
        if (e.type === "radio" && !checked) set(e, "checked", false);
        else e.click();
      };
    }
    if (e instanceof HTMLInputElement && e.type === "file")
      return () => void (input.files !== null && input.files.length > 0 && set(e, "value", ""));
    if (e.matches("input,textarea")) {
      const { value } = input;
      return () => void (input.value !== value && set(e, "value", value));
    }
    const text = e.textContent;
    const states = ["aria-checked", "aria-pressed"].map((name) => e.getAttribute(name)).join();
    return () => {
      const now = ["aria-checked", "aria-pressed"].map((name) => e.getAttribute(name)).join();
      if (now !== states && !(e.matches("[role=radio]") && !states.includes("true"))) (e as HTMLElement).click();
      if (!e.matches("[contenteditable=true]") || e.textContent === text) return;
      e.textContent = text;
      e.dispatchEvent(new Event("input", { bubbles: true }));
    };
  };
  world.putsBack = [...inputs].slice(0, 200).map(puts);
}

/** Notes what a label's field holds, so that `putBack` can restore it. */
export const keepState = (surface: Surface, label: string): Promise<void> => inBoxes(surface, noteState, { label });

/** Puts back what a label's field held at the last `keepState`: the first change of one control may restore another. */
export async function putBack(surface: Surface): Promise<void> {
  await surface.view.evaluate(() => {
    for (const put of (globalThis as { putsBack?: (() => void)[] }).putsBack ?? []) put();
  });
}

/** Attribute that marks a box in a page that does not know the `field` selector. */
const MARK = "data-refusion-field";
/** Tells whether an open page knows the selector: not if another copy of Playwright runs it, or it was used before. */
const TAKES = new WeakMap<Page, boolean>();

/** Prepares an open page for finding boxes: tries the `field` selector there, else boxes will be marked. */
export async function enterField(page: Page): Promise<void> {
  if (TAKES.has(page)) return;
  await registerField();
  const probe = page.locator('field=["",[]]').count();
  const isTaken = await probe.then(Number.isFinite, () => false);
  TAKES.set(page, isTaken);
}

/** Runs IN THE PAGE: moves the mark to one of a label's boxes; without a label it only removes the mark. */
function markBox(
  boxes: BoxesOf,
  { label, nth, all, mark }: { label: string | undefined; nth: number; all: readonly string[]; mark: string },
): void {
  const world = globalThis as { marked?: Element | undefined };
  world.marked?.removeAttribute(mark);
  world.marked = label === undefined ? undefined : boxes(label, all)[nth];
  world.marked?.setAttribute(mark, "");
}

/** Removes the mark from a page. */
export async function leaveField(surface: Surface): Promise<void> {
  if (TAKES.get(surface.page) === false) await inBoxes(surface, markBox, { label: undefined, nth: 0, mark: MARK });
}

export async function boxAt(surface: Surface, label: string, nth: number): Promise<Locator> {
  const { page } = surface;
  if (TAKES.get(page) !== false)
    return page.locator(`field=${JSON.stringify([label, LABELS.get(page) ?? []])}`).nth(nth);
  await inBoxes(surface, markBox, { label, nth, mark: MARK });
  return page.locator(`[${MARK}]`);
}

/** Matches a label as pages write it: with or without a mark for required or optional. */
export const asLabel = (label: string): RegExp =>
  new RegExp(`^\\s*(?:\\*\\s*)?${escaped(label.trim())}\\s*(?:\\*|:|\\(required\\)|\\(optional\\)|\\s)*$`, "i");

export const fieldOf = (label: string): string => `field=${JSON.stringify(label)}`;

/** Returns the label of a `field=` locator; undefined for any other. */
export function fieldIn(locator: string): string | undefined {
  const label = /^field=(".*")$/.exec(locator)?.[1];
  return label === undefined ? undefined : (JSON.parse(label) as string);
}

/** The index of the label's box that shows the value of a field at a place. */
export const boxIndex = ({ locator, nth }: PlaceOf): number => (fieldIn(locator) === undefined ? 0 : Math.min(nth, 1));

/** Finds the elements of a contract's locator: `label=Name`, `getByRole("button")` as codegen writes it, or any selector of Playwright. */
export function located(page: Page, locator: string): Locator {
  if (isCode(locator)) return locatedBy(page, locator);
  return locator.startsWith("label=")
    ? page.getByLabel(asLabel(locator.slice("label=".length)))
    : page.locator(locator);
}

/** CSS of a control that is marked as a picker: its value is chosen from a list or a calendar. */
export const PICKER =
  "[role=combobox],[aria-haspopup]:not([aria-haspopup=false]),[readonly],[aria-autocomplete=list],[aria-autocomplete=both]";
/** CSS that excludes the frame of an input: the input in it is the control. */
const FRAME = ":not(:has(input:not([type=hidden],[readonly],[type=checkbox],[type=radio])))";
/** CSS of controls that a person operates. */
export const OPERABLE = `input:not([type=hidden]),textarea,select,[role=combobox]${FRAME},[role=slider],[role=spinbutton],[role=textbox],[contenteditable=''],[contenteditable=true],[contenteditable=plaintext-only],button,[role=button],[role=switch],[role=checkbox],[role=radio],[role=listbox],[tabindex='0']${FRAME}`;
