import type { ControlKind } from "../../site.js";
import type { PageForm } from "./reader.js";

/** What a person sees to click on in an opened list, a calendar or a group. */
export interface SeenOption {
  readonly text: string;
  readonly value: string;
}

/** A place in CSS pixels of the window, and whether a click there meets what it is meant for. */
export interface Place {
  readonly x: number;
  readonly y: number;
  readonly hit: boolean;
}

/** Runs IN THE PAGE: lets this much of the page's own time pass, less where nothing has changed any more. */
export async function calm(page: PageForm, { ms, quietMs }: { ms: number; quietMs: number }): Promise<void> {
  let changes = page.changes;
  for (let passed = 0, quiet = 0; passed < ms && quiet < quietMs; passed += 25) {
    await new Promise((resolve) => setTimeout(resolve, 25));
    quiet = page.changes === changes ? quiet + 25 : 0;
    changes = page.changes;
  }
}

/** Runs IN THE PAGE: waits until something changes, at most so long, and has come to rest again. */
export async function awaitChange(page: PageForm, ms: number): Promise<void> {
  const start = page.changes;
  for (let passed = 0; passed < ms && page.changes === start; passed += 25)
    await new Promise((resolve) => setTimeout(resolve, 25));
  for (let last = -1, waits = 0; last !== page.changes && waits < 20; waits++) {
    last = page.changes;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Runs IN THE PAGE: where a member of a control can be clicked; what is too small to see is clicked by its label. */
export function placeOfControl(
  page: PageForm,
  { control, member }: { control: number; member: number },
): Place | undefined {
  if (page.elements[control]?.[0]?.isConnected !== true) page.scan();
  const element = page.elements[control]?.[member];
  if (element === undefined) return undefined;
  const box = element.getBoundingClientRect();
  const small = box.width < 2 || box.height < 2 || !page.kit.shown(element);
  const label = small ? (page.kit.labelsOf(element)[0] ?? element.parentElement) : null;
  return page.kit.aim(label ?? element);
}

/** Runs IN THE PAGE: clicks by script what the mouse cannot meet. */
export function pressControl(page: PageForm, { control, member }: { control: number; member: number }): void {
  page.elements[control]?.[member]?.click();
}

/** Runs IN THE PAGE: moves the focus to a field and selects what is in it. @returns whether it has the focus. */
export function focusField(page: PageForm, { control, member }: { control: number; member: number }): boolean {
  if (page.elements[control]?.[member]?.isConnected !== true) page.scan();
  const element = page.elements[control]?.[member] as HTMLInputElement | undefined;
  if (element === undefined) return false;
  element.scrollIntoView({ block: "center", behavior: "instant" });
  element.focus();
  if (typeof element.select === "function") element.select();
  else element.ownerDocument.getSelection()?.selectAllChildren(element);
  return (element.getRootNode() as Document).activeElement === element;
}

/** Runs IN THE PAGE: the focus leaves whatever has it. */
export function leaveField(_: PageForm): void {
  let active = document.activeElement as HTMLElement | null;
  while (active?.shadowRoot?.activeElement || (active as HTMLIFrameElement | null)?.contentDocument?.activeElement)
    active = (active?.shadowRoot?.activeElement ??
      (active as HTMLIFrameElement).contentDocument?.activeElement) as HTMLElement;
  active?.blur();
}

/** Runs IN THE PAGE: remembers what can be seen, so that what opens can be told from it. */
export function remember(page: PageForm): void {
  const seen = new WeakSet<Element>();
  for (const element of page.kit.all("*"))
    if (page.kit.shown(element) && element.getBoundingClientRect().height > 1) seen.add(element);
  (page as PageForm & { seen?: WeakSet<Element> }).seen = seen;
}

/**
 * Runs IN THE PAGE: the options that can be seen now: by role, in a control's own list, or as what has appeared since
 * `remember`. Waits for one of this text, as long as the page's own time is not up and something still changes.
 */
export async function seeOptions(
  page: PageForm,
  { control, wanted, ms }: { control: number; wanted: string; ms: number },
): Promise<SeenOption[]> {
  const { kit } = page;
  const seen = (page as PageForm & { seen?: WeakSet<Element> }).seen;
  const sized = (element: Element): boolean => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && kit.shown(element);
  };
  const ROLES = "[role=option],[role=treeitem],[role=menuitem],[role=menuitemradio],[role=menuitemcheckbox]";
  const find = (): HTMLElement[] => {
    const trigger = page.elements[control]?.[0];
    const list = trigger === undefined ? undefined : kit.listOf(trigger);
    const inside = list === undefined ? [] : ([...list.querySelectorAll(ROLES)] as HTMLElement[]).filter(sized);
    if (inside.length > 0) return inside;
    const named = kit.all(ROLES).filter(sized);
    const fresh = named.filter((e) => seen === undefined || !seen.has(e));
    if (fresh.length > 0) return fresh;
    const appeared = kit
      .all("li,button,a,div,span,td,label,p,[tabindex],[data-value]")
      .filter(
        (e) =>
          sized(e) &&
          seen?.has(e) === false &&
          kit.clean(e.textContent) !== "" &&
          kit.clean(e.textContent).length < 200,
      );
    // the innermost that hold a whole text
    return appeared.filter(
      (e) =>
        !appeared.some(
          (inner) => inner !== e && e.contains(inner) && kit.clean(inner.textContent) === kit.clean(e.textContent),
        ),
    );
  };
  const says = (e: HTMLElement): boolean => kit.same(kit.optionText(e), wanted) || kit.same(kit.optionValue(e), wanted);
  let options: HTMLElement[] = [];
  let still = 0;
  let changes = -1;
  for (let passed = 0; passed <= ms; passed += 25) {
    options = find();
    // lists are drawn again while what was typed is looked up
    if (options.some(says) && still >= 50) break;
    still = page.changes === changes ? still + 25 : 0;
    changes = page.changes;
    if (options.length > 0 && still >= Math.min(ms, 700)) break;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  page.options = options;
  return options.map((e) => ({ text: kit.optionText(e), value: kit.optionValue(e) }));
}

/** Runs IN THE PAGE: scrolls the list that an option stands in, for lists that hold only what can be seen. */
export function scrollOptions(page: PageForm): boolean {
  for (let node = page.options[0]?.parentElement ?? null; node !== null; node = node.parentElement) {
    if (node.scrollHeight <= node.clientHeight + 1 || node.tagName === "HTML" || node.tagName === "BODY") continue;
    const before = node.scrollTop;
    node.scrollTop += Math.max(20, node.clientHeight * 0.8);
    return node.scrollTop > before;
  }
  return false;
}

/** Runs IN THE PAGE: where an option that was seen can be clicked. */
export function placeOfOption(page: PageForm, index: number): Place | undefined {
  const option = page.options[index];
  return option === undefined || !option.isConnected ? undefined : page.kit.aim(option);
}

/** Runs IN THE PAGE: clicks an option by script. */
export function pressOption(page: PageForm, index: number): void {
  page.options[index]?.click();
}

/** Runs IN THE PAGE: the text field that an opened list has for a search gets the focus. */
export function focusSearch(page: PageForm, control: number): boolean {
  const { kit } = page;
  const seen = (page as PageForm & { seen?: WeakSet<Element> }).seen;
  const own = page.elements[control]?.[0] as HTMLInputElement | undefined;
  const typable = (e: Element | undefined): e is HTMLInputElement =>
    e !== undefined &&
    e.tagName === "INPUT" &&
    !(e as HTMLInputElement).readOnly &&
    /^(?:text|search|)$/.test((e as HTMLInputElement).type);
  const inner = own?.tagName === "INPUT" ? undefined : own?.querySelector<HTMLInputElement>("input:not([type=hidden])");
  const field = typable(own)
    ? own
    : inner !== null && typable(inner)
      ? inner
      : kit.all("input").find((e) => typable(e) && kit.shown(e) && seen?.has(e) === false);
  if (field === undefined) return false;
  field.focus();
  (field as HTMLInputElement).select();
  return true;
}

/** Runs IN THE PAGE: whether the field that has the focus holds this text. */
export function isTyped(page: PageForm, text: string): boolean {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  return active !== null && page.kit.same((active as HTMLInputElement).value ?? "", text);
}

/** Runs IN THE PAGE: whether a control says that its list or dialog is open. */
export function isOpen(page: PageForm, control: number): boolean {
  const element = page.elements[control]?.[0];
  return (
    element !== undefined &&
    (element.getAttribute("aria-expanded") ?? element.closest("[aria-expanded]")?.getAttribute("aria-expanded")) ===
      "true"
  );
}

/** Runs IN THE PAGE: what was seen of another control's list is no list of this one. */
export function forgetOptions(page: PageForm): void {
  page.options = [];
}

/** Runs IN THE PAGE: whether options that were seen can still be seen. */
export function showsOptions(page: PageForm): boolean {
  return page.options.length > 1 && page.options.some((option) => option.isConnected && page.kit.shown(option));
}

/** Runs IN THE PAGE: the place of the option that the keys have come to, of those that were seen; -1 where none is marked. */
export function keyedOption(page: PageForm, control: number): number {
  const owner = page.elements[control]?.[0];
  const id =
    owner?.getAttribute("aria-activedescendant") ?? document.activeElement?.getAttribute("aria-activedescendant");
  const marked = (e: HTMLElement): boolean =>
    e === document.activeElement ||
    (id !== null && id !== undefined && e.id === id) ||
    e.getAttribute("aria-selected") === "true" ||
    /(?:^|[-_\s])(?:active|focus(?:ed)?|highlight(?:ed)?|hover)(?:$|[-_\s])/i.test(e.className);
  return page.options.findIndex((option) => option.isConnected && marked(option));
}

/** A button beside a number, by what it says and what it does to the number. */
export interface StepButton {
  readonly text: string;
  readonly step: "less" | "more" | undefined;
}

/** Runs IN THE PAGE: buttons beside a field, which become the options. */
export function buttonsBeside(page: PageForm, control: number): StepButton[] {
  const { kit } = page;
  if (page.elements[control]?.[0]?.isConnected !== true) page.scan();
  const field = page.elements[control]?.[0];
  page.options = field === undefined ? [] : kit.buttonsBeside(field);
  return page.options.map((b) => ({ text: kit.ariaName(b) || kit.clean(b.textContent), step: kit.stepOf(b) }));
}

/** Runs IN THE PAGE: what a control's own members do to a number. */
export function stepsOf(page: PageForm, control: number): StepButton["step"][] {
  return (page.elements[control] ?? []).map(page.kit.stepOf);
}

/** Runs IN THE PAGE: scrolls on, in the window and in what scrolls inside it. @returns false where the end is reached. */
export function scrollOn(page: PageForm): boolean {
  const areas = [document.scrollingElement, ...page.kit.all("*")].filter(
    (e) => e !== null && e.scrollHeight > e.clientHeight + 20 && e.clientHeight > 30,
  );
  return areas.some((area) => {
    if (area === null || (area !== document.scrollingElement && !/auto|scroll/.test(getComputedStyle(area).overflowY)))
      return false;
    const before = area.scrollTop;
    area.scrollTop = before + Math.max(100, area.clientHeight * 0.9);
    return area.scrollTop > before + 1;
  });
}

/** Runs IN THE PAGE: sets the field of one part of a date, a select by its text or number. */
export function setPart(
  page: PageForm,
  { control, member, number }: { control: number; member: number; number: number },
): boolean {
  const element = page.elements[control]?.[member] as HTMLInputElement | HTMLSelectElement | undefined;
  if (element === undefined) return false;
  const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
  if (element.tagName === "SELECT") {
    const options = [...(element as HTMLSelectElement).options];
    const option =
      options.find((o) => /^\d+$/.test(o.text.trim()) && Number(o.text) === number) ??
      options.find((o) => member === 1 && o.text.trim().slice(0, 3).toLowerCase() === months[number - 1]) ??
      options.find((o) => o.value !== "" && Number(o.value) === number);
    if (option === undefined) return false;
    option.selected = true;
  } else {
    const text = String(number).padStart(Math.max(0, Math.min(2, (element as HTMLInputElement).maxLength)), "0");
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), "value")?.set?.call(element, text);
  }
  for (const type of ["input", "change"]) element.dispatchEvent(new Event(type, { bubbles: true }));
  element.dispatchEvent(new FocusEvent("blur"));
  return true;
}

/** Runs IN THE PAGE: a button of this sort that can be seen and was not there before, as `OK` below a calendar. */
export function findFresh(page: PageForm, words: string): Place | undefined {
  const { kit } = page;
  const seen = (page as PageForm & { seen?: WeakSet<Element> }).seen;
  const sort = new RegExp(`^(?:${words})$`, "i");
  const button = kit
    .all("button,[role=button],a")
    .find((e) => kit.shown(e) && seen?.has(e) === false && !kit.isDisabled(e) && sort.test(kit.clean(e.textContent)));
  if (button === undefined) return undefined;
  page.options = [button];
  return kit.aim(button);
}

/** Runs IN THE PAGE: a spin button's or slider's numbers. */
export function rangeOf(
  page: PageForm,
  control: number,
): { now: number; min: number; max: number; box: { x: number; y: number; width: number; height: number } } | undefined {
  const element = page.elements[control]?.[0];
  if (element === undefined) return undefined;
  const number = (attribute: string, otherwise: number): number =>
    element.hasAttribute(attribute) ? Number(element.getAttribute(attribute)) : otherwise;
  const track = element.parentElement ?? element;
  const { x, y, width, height } = track.getBoundingClientRect();
  return {
    now: number("aria-valuenow", Number(element.textContent ?? 0)),
    min: number("aria-valuemin", 0),
    max: number("aria-valuemax", 100),
    box: { x, y, width, height },
  };
}

/** Runs IN THE PAGE: the hidden fields of the page and what they hold. */
export function hiddenFields(page: PageForm): [name: string, value: string][] {
  const known = new Set(page.elements.flat());
  return (page.kit.all("input,select,textarea") as HTMLInputElement[])
    .filter(
      (e) =>
        e.name !== "" &&
        !known.has(e) &&
        (e.type === "hidden" || !page.kit.shown(e) || e.getAttribute("aria-hidden") === "true"),
    )
    .map((e) => [e.name, e.value]);
}

/**
 * Runs IN THE PAGE: finds what belongs to a visible text that labels no control: things to click after it, in the
 * smallest container that has any and no control of its own. It becomes a control of the kind that is asked for.
 */
export function discover(page: PageForm, { label, kind }: { label: string; kind: ControlKind }): number {
  const { kit } = page;
  const strip = (text: string): string => kit.clean(text).replace(/[\s*:]+$/, "");
  const TEXTS = "label,legend,span,div,p,h1,h2,h3,h4,h5,h6,td,th,dt,strong,b,li,small,em,a,button";
  const owned = (e: HTMLElement): string =>
    strip(
      [...e.childNodes]
        .filter((n) => n.nodeType === Node.TEXT_NODE)
        .map((n) => n.textContent)
        .join(" "),
    );
  // a field of this label may have been drawn since the page was read
  page.scan();
  if (page.controls.some((c) => c.present && kit.same(strip(c.label), strip(label)))) return -1;
  const controls = page.elements.flatMap((members, i) => (page.controls[i]?.present ? members : []));
  const clickable = (e: HTMLElement): boolean =>
    kit.shown(e) &&
    !kit.isDisabled(e) &&
    (e.matches(
      "button:not([type=submit]),summary,[onclick],[tabindex],[role=button],[role=option],[role=radio],[role=checkbox],[role=switch],a,[contenteditable],input[type=button]",
    ) ||
      getComputedStyle(e).cursor === "pointer");
  /** Of these the things to click, without what is inside another one. */
  const outermost = (elements: readonly HTMLElement[]): HTMLElement[] => {
    const own = elements.filter(clickable);
    return own.filter((e) => !own.some((o) => o !== e && o.contains(e)));
  };
  const inner = (of: Element): HTMLElement[] => [...of.querySelectorAll<HTMLElement>("*")];
  /** What can be clicked in the elements after one, up to the next control or the next thing with a name. */
  const following = (element: Element): HTMLElement[] => {
    const found: HTMLElement[] = [];
    for (
      let next = element.nextElementSibling as HTMLElement | null;
      next !== null;
      next = next.nextElementSibling as HTMLElement | null
    ) {
      if (controls.some((c) => next?.contains(c)) || next.matches("button[type=submit],input[type=submit]")) break;
      const inside = outermost([next, ...inner(next)]);
      const sends = inside.some(
        (e) =>
          page.buttons.includes(e) && /^(?:submit|send|save|next|continue|back|cancel)/i.test(kit.clean(e.textContent)),
      );
      if (sends || next.matches("h1,h2,h3,h4,h5,h6,label,legend")) break;
      // the next name ends it; a number between two buttons does not
      if (inside.length === 0 && found.length > 0 && /\p{L}/u.test(kit.clean(next.textContent))) break;
      found.push(...inside);
    }
    return found;
  };
  const group = kit.all("[role=group],fieldset,section,[aria-label]").find((e) => kit.same(kit.ariaName(e), label));
  const members = group === undefined || controls.some((c) => group.contains(c)) ? [] : outermost(inner(group));
  if (kind !== "checkbox" && members.length > 1) return add(members, "");
  let child: Element | undefined;
  for (const text of kit.all(TEXTS)) {
    if (!kit.shown(text) || !(kit.same(owned(text), label) || kit.same(strip(kit.textOf(text)), label))) continue;
    if (kind === "checkbox") {
      for (let node: Element | null = text, up = 0; node !== null && up < 3; node = kit.parentOf(node), up++) {
        if (controls.some((c) => node?.contains(c))) break;
        const inside = inner(node).find((e) => clickable(e) && !e.contains(text) && !text.contains(e));
        const box = inside ?? (clickable(node as HTMLElement) ? (node as HTMLElement) : undefined);
        if (box !== undefined) return add([box], kit.clean(box.textContent));
      }
      continue;
    }
    for (
      let node: Element | null = kit.parentOf(text), up = 0;
      node !== null && node.tagName !== "BODY" && up < 5;
      node = kit.parentOf(node), up++
    ) {
      const beside = node.contains(text) ? following(up === 0 ? text : (child as Element)) : [];
      if (beside.length > 0) return add(beside, "");
      child = node;
      if (controls.some((c) => node?.contains(c))) break;
      const outer = outermost(inner(node).filter((e) => !e.contains(text) && !text.contains(e)));
      if (outer.length > 0) return add(outer, "");
      if (node.tagName === "FORM") break;
    }
  }
  return -1;
  function add(members: HTMLElement[], value: string): number {
    page.elements.push(members);
    page.controls.push({
      kind,
      widget: "found",
      label,
      also: [],
      section: "",
      name: members[0]?.getAttribute("name") ?? members[0]?.getAttribute("data-name") ?? "",
      id: members[0]?.id ?? "",
      required: false,
      options:
        members.length < 2
          ? []
          : members.map((m) => ({ text: kit.optionText(m), value: kit.optionValue(m), chosen: false })),
      value,
      checked: false,
      form: -1,
      present: true,
    });
    return page.controls.length - 1;
  }
}
