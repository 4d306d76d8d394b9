import type { Locator, Page } from "playwright";
import { playwright } from "../browser/playwright.js";
import type { Surface } from "../browser/surface.js";
import { BOXES, type BoxesOf } from "./boxes.js";

/** The state of a field as a person sees it. */
export interface Shown {
  /** All that is read in its box. */
  readonly text: string;
  /** Values of inputs. */
  readonly values: readonly string[];
  /** Values of hidden inputs, which are sent. */
  readonly held: readonly string[];
  /** Names of what is ticked, chosen or pressed. */
  readonly on: readonly string[];
  /** The box that was looked into is there, and laid out: a part of the form that comes later is not. */
  readonly there: boolean;
  /** Part of it says that it is wrong. */
  readonly invalid: boolean;
  /** A box or switch in it is neither on nor off. */
  readonly unset: boolean;
}

/** Runs IN THE PAGE: the state of each label's field. */
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
    const [text] = [own, around].map((said) => (said ?? "").replace(/\s+/g, " ").trim()).filter((said) => said !== "");
    return text ?? (e as HTMLInputElement).value ?? e.getAttribute("value") ?? e.parentElement?.textContent ?? "";
  };
  return labels.map((label, i): Shown => {
    const box = boxes(label, all)[nth[i] ?? 0];
    if (box === undefined)
      return { text: "", values: [], held: [], on: [], there: false, invalid: false, unset: false };
    const values: string[] = [];
    const held: string[] = [];
    const on: string[] = [];
    let text = "";
    const marks = { invalid: false, unset: false };
    // what is only read aloud stands in a box of one pixel
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
    const there = box.checkVisibility() || getComputedStyle(box).display === "contents";
    return { text: text.replace(/\s+/g, " ").trim(), values, held, on, there, ...marks };
  });
}

/** Runs IN THE PAGE: classes, styles and hidden values in a label's field, which tell that something happened where no text does. */
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

/** Runs IN THE PAGE: whether something else lies over the middle of a label's field or of its control, as a window that a try has opened, or it is gone. */
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
  const seen = [...box.querySelectorAll(operable)].filter((e) => e.checkVisibility() && e.clientHeight > 4);
  return [box, ...seen.slice(0, 1)].some((part) => {
    const { x, y, width, height } = part.getBoundingClientRect();
    const at = [x + width / 2, y + height / 2] as const;
    let top = document.elementFromPoint(...at);
    for (let inner = top?.shadowRoot?.elementFromPoint(...at); inner != null && inner !== top; ) {
      top = inner;
      inner = top.shadowRoot?.elementFromPoint(...at);
    }
    // what lies over a control may be a part of its field, as a panel that stays open is of another's
    return top !== null && !isIn(top, box) && !isIn(box, top);
  });
}

/** The labels of the form that a page shows: where another's begins a label's field ends. */
const LABELS = new WeakMap<Page, readonly string[]>();
export const setLabels = (page: Page, labels: readonly string[]): void => void LABELS.set(page, labels);

/** Runs a function of this file in the page, with what finds a label's boxes. */
function inBoxes<A extends object, T>(
  surface: Surface,
  run: (boxes: BoxesOf, argument: A & { all: readonly string[] }) => T,
  argument: A,
): Promise<T> {
  const source = `function (argument) { return (${run})(${BOXES}, argument); }`;
  return surface.view.run<T>(source, { ...argument, all: LABELS.get(surface.page) ?? [] });
}

/** The state of each label's field. @param nth which of the label's boxes is looked into; the first where none is given. */
export function shownIn(surface: Surface, labels: readonly string[], nth: readonly number[] = []): Promise<Shown[]> {
  return inBoxes(surface, observe, { labels, nth });
}

/** The looks of a label's field beside its texts and values. */
export function looksOf(surface: Surface, label: string, nth: number): Promise<string> {
  return inBoxes(surface, look, { label, nth });
}

/** Tells whether something else lies over a label's field, or it is gone. */
export function isCovered(surface: Surface, label: string): Promise<boolean> {
  return inBoxes(surface, covers, { label, operable: OPERABLE });
}

let registered: Promise<void> | undefined;

/** Makes `field="Label"` a selector; to be called before a context is opened that uses it. */
export function registerField(): Promise<void> {
  const engine = `{ queryAll(root, label) { return ${BOXES}(...JSON.parse(label)); }, query(root, label) { return this.queryAll(root, label)[0] ?? null; } }`;
  registered ??= playwright().selectors.register("field", { content: `(${engine})` }, { contentScript: true });
  return registered;
}

/** Marks a box in a page that takes no further selector. */
const MARK = "data-refusion-field";
/** Tells of open pages whether they take one: not those of another copy of Playwright, or that it has looked into before. */
const TAKES = new WeakMap<Page, boolean>();

/** Makes labels' boxes known on a page that is open already. */
export async function enterField(page: Page): Promise<void> {
  if (TAKES.has(page)) return;
  await registerField();
  const probe = page.locator('field=["",[]]').count();
  const isTaken = await probe.then(Number.isFinite, () => false);
  TAKES.set(page, isTaken);
}

/** Runs IN THE PAGE: marks one of a label's boxes, and takes the mark from the last one; no label: from that alone. */
function markBox(
  boxes: BoxesOf,
  { label, nth, all, mark }: { label: string | undefined; nth: number; all: readonly string[]; mark: string },
): void {
  const world = globalThis as { marked?: Element | undefined };
  world.marked?.removeAttribute(mark);
  world.marked = label === undefined ? undefined : boxes(label, all)[nth];
  world.marked?.setAttribute(mark, "");
}

/** Takes marks from a page. */
export async function leaveField(surface: Surface): Promise<void> {
  if (TAKES.get(surface.page) === false) await inBoxes(surface, markBox, { label: undefined, nth: 0, mark: MARK });
}

/** One of a label's boxes. */
export async function boxAt(surface: Surface, label: string, nth: number): Promise<Locator> {
  const { page } = surface;
  if (TAKES.get(page) !== false)
    return page.locator(`field=${JSON.stringify([label, LABELS.get(page) ?? []])}`).nth(nth);
  await inBoxes(surface, markBox, { label, nth, mark: MARK });
  return page.locator(`[${MARK}]`);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replace(/\s+/g, "\\s+");

/** A label as pages write it: with a mark of what is required or not. */
export const asLabel = (label: string): RegExp =>
  new RegExp(`^\\s*(?:\\*\\s*)?${escaped(label.trim())}\\s*(?:\\*|:|\\(required\\)|\\(optional\\)|\\s)*$`, "i");

/** A label's boxes as a locator. */
export const fieldOf = (label: string): string => `field=${JSON.stringify(label)}`;

/** The label of such a locator; undefined of another. */
export function fieldIn(locator: string): string | undefined {
  const label = /^field=(".*")$/.exec(locator)?.[1];
  return label === undefined ? undefined : (JSON.parse(label) as string);
}

/** The elements of a locator that a contract names: `label=Name`, or any selector of Playwright. */
export function located(page: Page, locator: string): Locator {
  return locator.startsWith("label=")
    ? page.getByLabel(asLabel(locator.slice("label=".length)))
    : page.locator(locator);
}

/** CSS of a control that says that values are chosen for it from a list or a calendar. */
export const PICKER =
  "[role=combobox],[aria-haspopup]:not([aria-haspopup=false]),[readonly],[aria-autocomplete=list],[aria-autocomplete=both]";
/** CSS of a picker that is none itself, but the frame of the field that is written into. */
const FRAME = ":not(:has(input:not([type=hidden],[readonly],[type=checkbox],[type=radio])))";
/** CSS of what a person operates. */
export const OPERABLE = `input:not([type=hidden]),textarea,select,[role=combobox]${FRAME},[role=slider],[role=spinbutton],[role=textbox],[contenteditable=''],[contenteditable=true],[contenteditable=plaintext-only],button,[role=button],[role=switch],[role=checkbox],[role=radio],[role=listbox],[tabindex='0']${FRAME}`;
