import type { Place } from "./hands.js";
import type { PageForm } from "./reader.js";

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
    const BUTTONS = "button,[role=button],a,[class*=prev i],[class*=next i],[onclick]";
    let holder = around.closest<HTMLElement>("[role=dialog],dialog,[popover]") ?? around;
    const inside = (): HTMLElement[] =>
      [...holder.querySelectorAll<HTMLElement>(BUTTONS)].filter(
        (e) => !isDay(e) && kit.shown(e) && !kit.isDisabled(e) && cellsOf(e).length === 0,
      );
    // they may stand above a table that says its month itself
    for (let up = 0; up < 3 && inside().length < 2 && holder.parentElement?.matches("div,section"); up++)
      holder = holder.parentElement;
    const buttons = inside();
    const said = (e: HTMLElement): string =>
      `${e.getAttribute("aria-label") ?? ""} ${e.title} ${e.className} ${e.getAttribute("data-action") ?? ""}`.toLowerCase();
    const years = buttons.filter((e) => /year/.test(said(e)) || /^(?:«|»|<<|>>|⟪|⟫)$/.test(kit.clean(e.textContent)));
    const others = buttons.filter((e) => !years.includes(e));
    const way = back ? /prev|back|earlier|\bleft/ : /next|forward|later|\bright/;
    const sign = back ? /^[‹<«←◀❮⟨⟪]+$/ : /^[›>»→▶❯⟩⟫]+$/;
    return (byYear ? years : others).find((e) => way.test(said(e)) || sign.test(kit.clean(e.textContent)));
  }
  if (area === undefined || (monthOf(area) ?? want) !== want) return undefined;
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

/**
 * Runs IN THE PAGE: picks a month among twelve that are shown, after going to its year. @returns its place; undefined
 * where there is no such choice.
 */
export async function findMonth(
  page: PageForm,
  { year, month }: { year: number; month: number },
): Promise<Place | undefined> {
  const { kit } = page;
  const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
  const sized = (e: Element): boolean => kit.shown(e) && e.getBoundingClientRect().height > 1;
  const isMonth = (e: Element): boolean =>
    MONTHS.includes(kit.clean(e.textContent).slice(0, 3).toLowerCase()) && sized(e);
  const cells = (): HTMLElement[] =>
    kit
      .all("button,td,li,a,div,span,[role=option],[role=gridcell]")
      .filter((e) => isMonth(e) && kit.clean(e.textContent).length < 12 && e.querySelector("button,a") === null);
  const area = (): HTMLElement | null => {
    let node: HTMLElement | null = cells()[0] ?? null;
    while (node !== null && [...node.querySelectorAll("*")].filter(isMonth).length < 12) node = node.parentElement;
    return node;
  };
  const yearOf = (around: Element): number | undefined => {
    const text = [...around.querySelectorAll<HTMLElement>("*")]
      .filter((e) => e.children.length === 0 && sized(e))
      .map((e) => (e as HTMLInputElement).value || kit.clean(e.textContent))
      .find((t) => /^\D*(?:19|20|21)\d{2}\D*$/.test(t));
    return text === undefined ? undefined : Number(/\d{4}/.exec(text)?.[0]);
  };
  let around = area();
  // the year may stand beside the twelve, not among them
  while (around !== null && yearOf(around) === undefined && around.parentElement !== null && around.tagName !== "BODY")
    around = around.parentElement;
  if (around === null) return undefined;
  for (let steps = 0; steps < 200; steps++) {
    const shows = yearOf(around);
    if (shows === undefined || shows === year) break;
    const back = year < shows;
    const said = (e: Element): string =>
      `${e.getAttribute("aria-label") ?? ""} ${(e as HTMLElement).title} ${e.className}`;
    const step = ([...around.querySelectorAll("button,a,[role=button],[onclick]")] as HTMLElement[]).find(
      (e) =>
        sized(e) &&
        ((back ? /prev|back|earlier/i : /next|forward|later/i).test(said(e)) ||
          (back ? /^[\u2039<\u00ab\u2190\u25c0]+$/ : /^[\u203a>\u00bb\u2192\u25b6]+$/).test(kit.clean(e.textContent))),
    );
    if (step === undefined) return undefined;
    step.click();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const cell = cells().find((e) => kit.clean(e.textContent).slice(0, 3).toLowerCase() === MONTHS[month - 1]);
  if (cell === undefined || yearOf(around) !== year) return undefined;
  page.options = [cell];
  return kit.aim(cell);
}

/** Runs IN THE PAGE: sets the hour and the minute of a clock that has just been opened. @returns whether there is one. */
export function setClock(page: PageForm, { hour, minute }: { hour: number; minute: number }): boolean {
  const { kit } = page;
  const seen = (page as PageForm & { seen?: WeakSet<Element> }).seen;
  const fresh = kit.all("input,select,[role=button],button,span").filter((e) => kit.shown(e) && !seen?.has(e));
  const said = (e: HTMLElement): string => `${kit.ariaName(e)} ${e.className} ${e.title} ${e.getAttribute("name")}`;
  const part = (word: RegExp): HTMLInputElement | undefined =>
    fresh.find((e) => /^(?:INPUT|SELECT)$/.test(e.tagName) && word.test(said(e))) as HTMLInputElement | undefined;
  const [hours, minutes] = [part(/hour/i), part(/minute/i)];
  if (hours === undefined || minutes === undefined) return false;
  const half = fresh.find((e) => /^[ap]\.?m\.?$/i.test(kit.clean(e.textContent)));
  const set = (field: HTMLInputElement, number: number): void => {
    field.focus();
    field.value = String(number).padStart(2, "0");
    for (const type of ["input", "increment", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
    field.dispatchEvent(new FocusEvent("blur"));
  };
  set(hours, half === undefined ? hour : hour % 12 || 12);
  set(minutes, minute);
  if (half !== undefined && /^p/i.test(kit.clean(half.textContent)) !== hour >= 12) half.click();
  return true;
}
