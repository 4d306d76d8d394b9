import type { ControlKind } from "../site.js";
import type { PageForm } from "./page-reader.js";

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

/** Runs IN THE PAGE: whether a control says that its list or dialog is open. */
export function isOpen(page: PageForm, control: number): boolean {
  const element = page.elements[control]?.[0];
  return (
    element !== undefined &&
    (element.getAttribute("aria-expanded") ?? element.closest("[aria-expanded]")?.getAttribute("aria-expanded")) ===
      "true"
  );
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

/**
 * Runs IN THE PAGE: picks a day in the calendar that is open: goes to its month by the lists, year and month buttons
 * that calendars have, and aims at its cell. @returns the place of the day; undefined where there is no such calendar.
 */
export async function findDay(
  page: PageForm,
  { date, control }: { date: string; control: number },
): Promise<Place | undefined> {
  const { kit } = page;
  const [year = 0, month = 0, day = 0] = date.split("-").map(Number);
  const MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
  ];
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
  const isDay = (e: Element): boolean => /^\d{1,2}$/.test(kit.clean(e.textContent)) && kit.shown(e);
  const cellsOf = (root: ParentNode): HTMLElement[] => {
    const all = (
      [...root.querySelectorAll("td,button,[role=gridcell],[role=option],a,span,div,time")] as HTMLElement[]
    ).filter(isDay);
    return all.filter((e) => !all.some((inner) => inner !== e && e.contains(inner)));
  };
  const calendar = (): HTMLElement | undefined => {
    const own = page.elements[control]?.[0];
    const areas = kit
      .all("[role=dialog],dialog[open],[popover],[role=grid],table,[class*=calendar i],[class*=picker i],div")
      .filter((e) => kit.shown(e) && e !== own && cellsOf(e).length >= 28 && cellsOf(e).length < 100);
    // the smallest area that has the days and says which month they are of
    return areas.reverse().find((e) => monthOf(e) !== undefined) ?? areas[0];
  };
  /** Months since year 0 of what an area says that it shows. */
  function monthOf(area: Element): number | undefined {
    const selects = [...area.querySelectorAll("select")];
    const chosen = selects.map((s) => kit.clean(s.selectedOptions[0]?.text)).join(" ");
    const inputs = [...area.querySelectorAll<HTMLInputElement>("input")].map((i) => i.value).join(" ");
    const headings = [...area.querySelectorAll("*")]
      .filter((e) => e.children.length === 0 && !isDay(e) && e.tagName !== "OPTION" && kit.shown(e))
      .map((e) => kit.clean(e.textContent))
      .join(" ");
    const text = `${chosen} ${headings} ${inputs} ${area.getAttribute("aria-label") ?? ""}`.toLowerCase();
    const m = MONTHS.findIndex((name) => new RegExp(`\\b(?:${name}|${name.slice(0, 3)})\\b`).test(text));
    const y = /\b(19|20|21)\d{2}\b/.exec(text)?.[0];
    if (m >= 0 && y !== undefined) return Number(y) * 12 + m;
    const numeric = /\b(\d{1,2})\s*[/.-]\s*((?:19|20|21)\d{2})\b/.exec(text) ?? undefined;
    return numeric === undefined ? undefined : Number(numeric[2]) * 12 + Number(numeric[1]) - 1;
  }
  const want = year * 12 + month - 1;
  let area = calendar();
  for (let waited = 0; area === undefined && waited < 1000; waited += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    area = calendar();
  }
  if (area === undefined) return undefined;
  for (const select of area.querySelectorAll("select")) {
    const options = [...select.options];
    const option =
      options.find((o) => kit.clean(o.text) === String(year)) ??
      options.find((o) => kit.clean(o.text).slice(0, 3).toLowerCase() === MONTHS[month - 1]?.slice(0, 3));
    if (option === undefined || option.selected) continue;
    select.value = option.value;
    select.dispatchEvent(new Event("input", { bubbles: true }));
    select.dispatchEvent(new Event("change", { bubbles: true }));
    await turn();
  }
  for (let steps = 0; steps < 800; steps++) {
    area = calendar();
    const shows = area === undefined ? undefined : monthOf(area);
    if (area === undefined || shows === undefined || shows === want) break;
    const back = want < shows;
    const far = Math.abs(want - shows) >= 12;
    const step = stepper(area, back, far) ?? stepper(area, back, false);
    if (step === undefined) break;
    const changes = page.changes;
    step.click();
    for (let waited = 0; waited < 500 && page.changes === changes; waited += 10)
      await new Promise((resolve) => setTimeout(resolve, 10));
    await turn();
  }
  function stepper(around: HTMLElement, back: boolean, byYear: boolean): HTMLElement | undefined {
    const buttons = (
      [
        ...(around.closest("[role=dialog],dialog,[popover]") ?? around).querySelectorAll(
          "button,[role=button],a,[class*=prev i],[class*=next i],[onclick]",
        ),
      ] as HTMLElement[]
    ).filter((e) => !isDay(e) && kit.shown(e) && !kit.isDisabled(e));
    const said = (e: HTMLElement): string =>
      `${e.getAttribute("aria-label") ?? ""} ${e.title} ${e.className} ${e.getAttribute("data-action") ?? ""}`.toLowerCase();
    const years = buttons.filter((e) => /year/.test(said(e)) || /^(?:«|»|<<|>>|⟪|⟫)$/.test(kit.clean(e.textContent)));
    const others = buttons.filter((e) => !years.includes(e));
    const way = back ? /prev|back|earlier|\bleft/ : /next|forward|later|\bright/;
    const sign = back ? /^[‹<«←◀❮⟨⟪]+$/ : /^[›>»→▶❯⟩⟫]+$/;
    return (byYear ? years : others).find((e) => way.test(said(e)) || sign.test(kit.clean(e.textContent)));
  }
  if (area === undefined) return undefined;
  const iso = `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
  const cells = cellsOf(area).filter((e) => !kit.isDisabled(e));
  const cellOf = (e: Element): Element => e.closest("td,[role=gridcell]") ?? e;
  const dated = (e: Element): boolean =>
    [...e.attributes, ...(e.parentElement?.attributes ?? []), ...cellOf(e).attributes].some((a) =>
      a.value.startsWith(iso),
    );
  const outside = (e: Element): boolean =>
    /outside|other|muted|prev|next|disabled|off\b|adjacent/i.test(`${e.className} ${cellOf(e).className}`) ||
    cellOf(e).hasAttribute("data-outside-month");
  const days = cells.filter((e) => Number(kit.clean(e.textContent)) === day);
  const inside = days.filter((e) => !outside(e));
  const [first] = inside;
  const cell = cells.find(dated) ?? (inside.length > 1 ? (day > 15 ? inside.at(-1) : first) : first) ?? days[0];
  if (cell === undefined) return undefined;
  page.options = [cell];
  return kit.aim(cell);
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
  const controls = page.elements.flatMap((members, i) => (page.controls[i]?.present ? members : []));
  const clickable = (e: HTMLElement): boolean =>
    kit.shown(e) &&
    !kit.isDisabled(e) &&
    (e.matches(
      "button:not([type=submit]),[onclick],[tabindex],[role=button],[role=option],[role=radio],[role=checkbox],[role=switch],a,[contenteditable],input[type=button]",
    ) ||
      getComputedStyle(e).cursor === "pointer");
  for (const text of kit.all(TEXTS)) {
    if (!kit.shown(text) || !(kit.same(owned(text), label) || kit.same(strip(kit.textOf(text)), label))) continue;
    if (kind === "checkbox") {
      for (let node: Element | null = text, up = 0; node !== null && up < 3; node = kit.parentOf(node), up++) {
        if (controls.some((c) => node?.contains(c))) break;
        const inner = ([...node.querySelectorAll<HTMLElement>("*")] as HTMLElement[]).find(
          (e) => clickable(e) && !e.contains(text) && !text.contains(e),
        );
        const box = inner ?? (clickable(node as HTMLElement) ? (node as HTMLElement) : undefined);
        if (box !== undefined) return add([box], kit.clean(box.textContent));
      }
      continue;
    }
    for (
      let node: Element | null = kit.parentOf(text), up = 0;
      node !== null && node.tagName !== "BODY" && up < 5;
      node = kit.parentOf(node), up++
    ) {
      if (controls.some((c) => node?.contains(c))) break;
      const after = ([...node.querySelectorAll<HTMLElement>("*")] as HTMLElement[]).filter(
        (e) => clickable(e) && !e.contains(text) && !text.contains(e),
      );
      const outer = after.filter((e) => !after.some((o) => o !== e && o.contains(e)));
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
