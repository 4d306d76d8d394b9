import type { Place } from "./way.js";

export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly text: string;
}
export type Grid = ReturnType<typeof readGrid>;
type GridKit = ReturnType<typeof gridKit>;

/** Runs IN THE PAGE: returns the functions that read calendars. */
function gridKit() {
  const up = (e: Element): Element | null => e.parentElement ?? ((e.getRootNode() as ShadowRoot).host || null);
  // the months before and after the shown one may stand beside it, outside the box that slides them
  const isBeside = (e: Element, x: number): boolean => {
    for (let box = up(e); box !== null; box = up(box)) {
      const { overflowX, position } = getComputedStyle(box);
      const { left, right } = box.getBoundingClientRect();
      if (overflowX !== "visible" && (x < left || x > right)) return true;
      if (position === "fixed" || position === "absolute") break;
    }
    return false;
  };
  /** Returns an element's rectangle; undefined if it is not visible. */
  const seen = (e: Element): DOMRect | undefined => {
    const r = e.getBoundingClientRect();
    if (r.width <= 4 || r.height <= 4) return undefined;
    const { visibility, opacity } = getComputedStyle(e);
    return visibility === "hidden" || opacity === "0" || isBeside(e, r.x + r.width / 2) ? undefined : r;
  };
  /** Lists the descendants of an element, in open shadow roots too. */
  const inside = (box: Element): Element[] => {
    const all: Element[] = [];
    const walk = (node: Element | ShadowRoot): void => {
      for (const child of [
        ...(node instanceof Element && node.shadowRoot !== null ? node.shadowRoot.children : []),
        ...node.children,
      ]) {
        if (all.length > 4000) return;
        all.push(child);
        walk(child);
      }
    };
    walk(box);
    return all;
  };
  const isAloud = (e: Element): boolean => {
    const { width, height } = e.getBoundingClientRect();
    return width > 0 && width <= 1 && height <= 1;
  };
  // an invisible list over a heading is not part of its text, and neither is text for screen readers
  const shownText = (n: Node): string =>
    n.nodeType === 3
      ? (n.nodeValue ?? "")
      : n instanceof Element && (n.matches("select") || isAloud(n))
        ? ""
        : [...n.childNodes].map(shownText).join("");
  const trimmed = (e: Element): string => {
    const text = e.textContent ?? "";
    return (e.children.length === 0 || text.length > 200 ? text : shownText(e)).replace(/\s+/g, " ").trim();
  };
  const isDay = (e: Element): boolean =>
    /^\d{1,2}$/.test(trimmed(e)) &&
    (e.children.length === 0 || ![...e.children].some((c) => trimmed(c) === trimmed(e))) &&
    seen(e) !== undefined;
  const within = (e: Element, box: Element): boolean => {
    for (let n: Element | null = e; n !== null; n = up(n)) if (n === box) return true;
    return false;
  };
  const DATED = [
    "aria-label",
    "title",
    "data-date",
    "data-day",
    "data-value",
    "datetime",
    "data-timestamp",
    "data-time",
    "data-iso",
  ];
  const cellOf = (e: Element, grid: Element) => {
    const r = e.getBoundingClientRect();
    const chain = [e, up(e), up(up(e) ?? e)].filter((n): n is Element => n !== null && n !== grid);
    const names = chain.flatMap((n) => DATED.flatMap((a) => n.getAttribute(a) ?? []));
    const off = chain.some(
      (n) =>
        n.getAttribute("aria-disabled") === "true" ||
        (n as HTMLButtonElement).disabled === true ||
        n.getAttribute("aria-hidden") === "true",
    );
    return { x: r.x + r.width / 2, y: r.y + r.height / 2, text: trimmed(e), names, off };
  };
  return { seen, up, inside, within, trimmed, isDay, cellOf };
}

/** Runs IN THE PAGE: reads a grid of days with its heading and buttons. */
function readGrid({ seen, up, inside, within, trimmed, cellOf }: GridKit, grid: Element, days: readonly Element[]) {
  const rect = grid.getBoundingClientRect();
  let panel = grid;
  const textOf = (e: Element): string =>
    e instanceof HTMLInputElement
      ? e.value
      : e instanceof HTMLSelectElement
        ? (e.selectedOptions[0]?.text ?? "")
        : trimmed(e);
  const isHead = (e: Element): boolean => {
    const t = textOf(e);
    return t.length > 0 && t.length < 40 && !/^\d{1,2}$/.test(t);
  };
  const heads = (): Element[] =>
    [panel, ...inside(panel)].filter(
      (e) =>
        isHead(e) &&
        seen(e) !== undefined &&
        !(days.includes(e) || (e !== grid && within(e, grid) && days.some((d) => within(d, e)))),
    );
  const yearSaid = (): boolean => heads().some((e) => /(?:19|20)\d\d/.test(textOf(e)));
  const BUTTON = "button,[role=button],a";
  const clickable = (): Element[] =>
    inside(panel).filter(
      (e) =>
        (e.matches(`${BUTTON},[onclick],[class*=next i],[class*=prev i],[class*=arrow i],[data-action]`) ||
          (e instanceof SVGElement && e.nodeName === "svg") ||
          getComputedStyle(e).cursor === "pointer") &&
        !within(e, grid) &&
        !within(grid, e) &&
        inside(e).filter((part) => part.matches(BUTTON)).length < 2 &&
        seen(e) !== undefined,
    );
  const outermost = (): Element[] => {
    const own = clickable();
    return own.filter((e) => !own.some((o) => o !== e && within(e, o)));
  };
  const grow = (isEnough: () => boolean): void => {
    for (let next = up(panel), n = 0; n < 7 && !isEnough() && next !== null && next !== document.body; n++) {
      panel = next;
      next = up(panel);
    }
  };
  grow(yearSaid);
  const headings = heads().map(textOf);
  // two months side by side may each have one of the arrows
  grow(() => outermost().length > 1);
  // the name of the first day may be one of the month before
  const named = [grid, ...grid.querySelectorAll("[aria-label]")].find(
    (e) => e.hasAttribute("aria-label") && !/^\d{1,2}$/.test(trimmed(e)),
  );
  const label = named?.getAttribute("aria-label") ?? "";
  return {
    // from which the month is read
    heading: [...headings, label].filter((t) => t !== ""),
    cells: days.filter((e) => within(e, grid)).map((e) => cellOf(e, grid)),
    buttons: outermost().map((e) => {
      const r = e.getBoundingClientRect();
      return { x: r.x + r.width / 2, y: r.y + r.height / 2, text: trimmed(e).slice(0, 20) };
    }),
    middle: rect.x + rect.width / 2,
    bottom: rect.bottom,
  };
}

/** Runs IN THE PAGE: reads the visible grids of days. */
function findGrids(kit: GridKit, read: typeof readGrid): Grid[] {
  const { up, inside, within, trimmed, isDay } = kit;
  const days = inside(document.body).filter((e) => e.children.length < 6 && isDay(e));
  const holdsMonth = (box: Element, pool: readonly Element[]): boolean => {
    const numbers = new Set(pool.filter((e) => within(e, box)).map((e) => Number(trimmed(e))));
    return Array.from({ length: 28 }, (_, i) => i + 1).every((n) => numbers.has(n));
  };
  const grids: Element[] = [];
  for (const first of days.filter((e) => trimmed(e) === "15")) {
    let box: Element | null = first;
    while (box !== null && !holdsMonth(box, days)) box = up(box);
    if (box !== null && box !== document.body && !grids.includes(box)) grids.push(box);
  }
  return grids.slice(0, 4).map((grid) => read(kit, grid, days));
}

export const readGrids = (place: Place): Promise<Grid[]> =>
  place.look(`function () { return (${findGrids})((${gridKit})(), ${readGrid}); }`);
