/*
 * Runs in the browser as text (`REPORT_SCRIPT`), so each function may use nothing outside itself. The page is complete
 * without it: it adds readouts, keyboard access, filters and sorting. Listeners sit on the document, so that content that
 * the live page puts in later works too.
 */

/** Gives the place where an arrow key moves to, of some; undefined for other keys. */
type Moved = (event: KeyboardEvent, at: number | undefined, count: number) => number | undefined;

function moved(event: KeyboardEvent, at: number | undefined, count: number): number | undefined {
  const step = { ArrowRight: 1, ArrowLeft: -1, Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY }[
    event.key
  ];
  if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return undefined;
  event.preventDefault();
  return Math.min(count - 1, Math.max(0, (at ?? (step > 0 ? -1 : count)) + step));
}

/** Reads out a chart's values at the pointer, or at the keyboard's cursor. */
function readCharts(moved: Moved): void {
  const columnOf = new WeakMap<Element, number>();
  const columns = (svg: Element): number[] => {
    const all = new Set<number>();
    for (const series of svg.querySelectorAll<SVGElement>(".series")) {
      for (const x of (series.dataset.x ?? "").split(" ")) if (x !== "") all.add(Number(x));
    }
    return [...all].sort((a, b) => a - b);
  };
  const readOut = (svg: SVGElement, x: number | undefined): void => {
    const output = svg.closest("figure")?.querySelector("output");
    const cursor = svg.querySelector(".cursor");
    if (output === null || output === undefined || cursor === null) return;
    if (x === undefined) {
      output.textContent = "";
      cursor.setAttribute("x1", "-9");
      cursor.setAttribute("x2", "-9");
      return;
    }
    const [first, last, left, right] = ["first", "last", "left", "right"].map((key) => Number(svg.dataset[key]));
    const at = (left ?? 0) + ((x - (first ?? 0)) / ((last ?? 0) - (first ?? 0) || 1)) * ((right ?? 0) - (left ?? 0));
    cursor.setAttribute("x1", String(at));
    cursor.setAttribute("x2", String(at));
    const values = [...svg.querySelectorAll<SVGElement>(".series")].flatMap((series) => {
      const index = (series.dataset.x ?? "").split(" ").indexOf(String(x));
      return index < 0 ? [] : [`${series.dataset.label} ${(series.dataset.y ?? "").split(" ")[index]}`];
    });
    output.textContent = `${x}: ${values.join(", ")}`;
  };
  const chartAt = (target: EventTarget | null): SVGElement | null =>
    target instanceof Element ? target.closest<SVGElement>("figure.chart svg") : null;
  document.addEventListener("pointermove", (event) => {
    const svg = chartAt(event.target);
    if (svg === null) return;
    const box = svg.getBoundingClientRect();
    const [first, last, left, right] = ["first", "last", "left", "right"].map((key) => Number(svg.dataset[key]));
    const width = (svg as SVGSVGElement).viewBox.baseVal.width;
    const place = (((event.clientX - box.left) / box.width) * width - (left ?? 0)) / ((right ?? 1) - (left ?? 0));
    const wanted = (first ?? 0) + place * ((last ?? 0) - (first ?? 0));
    const all = columns(svg);
    const nearest = all.reduce((best, x) => (Math.abs(x - wanted) < Math.abs(best - wanted) ? x : best), all[0] ?? 0);
    columnOf.set(svg, all.indexOf(nearest));
    readOut(svg, nearest);
  });
  for (const leaving of ["pointerout", "focusout"]) {
    document.addEventListener(leaving, (event) => {
      const svg = chartAt(event.target);
      const to = (event as PointerEvent | FocusEvent).relatedTarget;
      if (svg !== null && !(to instanceof Node && svg.contains(to))) readOut(svg, undefined);
    });
  }

  document.addEventListener("keydown", (event) => {
    const svg = event.target;
    if (!(svg instanceof SVGElement && svg.matches("figure.chart svg"))) return;
    const all = columns(svg);
    const index = moved(event, columnOf.get(svg), all.length);
    if (index === undefined) return;
    columnOf.set(svg, index);
    readOut(svg, all[index]);
  });
}

/** Says round and probability of a token of a heat map. */
function probeTokens(moved: Moved): void {
  const columnOf = new WeakMap<Element, number>();
  const probe = (heat: HTMLElement, index: number): void => {
    const tokens = [...heat.children] as HTMLElement[];
    const token = tokens[index];
    const output = heat.parentElement?.querySelector(".probe");
    if (token === undefined || output === null || output === undefined) return;
    heat.querySelector(".at")?.classList.remove("at");
    token.classList.add("at");
    columnOf.set(heat, index);
    const p = token.dataset.p === undefined ? "" : `, probability ${token.dataset.p}`;
    output.textContent = `Token ${index + 1} of ${tokens.length} “${token.textContent?.replaceAll("\n", "") ?? ""}”: round ${token.dataset.r}${p}`;
  };
  document.addEventListener("pointerover", (event) => {
    const token = event.target instanceof Element ? event.target.closest<HTMLElement>(".heat span") : null;
    const heat = token?.parentElement;
    if (token !== null && heat) probe(heat, [...heat.children].indexOf(token));
  });
  document.addEventListener("keydown", (event) => {
    const heat = event.target;
    if (!(heat instanceof HTMLElement && heat.matches(".heat"))) return;
    const index = moved(event, columnOf.get(heat), heat.children.length);
    if (index !== undefined) probe(heat, index);
  });
}

/** Filters and sorts the rollouts. */
function browseRollouts(): void {
  const control = (id: string): HTMLInputElement | HTMLSelectElement | null => document.querySelector(`#${id}`);
  const arrange = (): void => {
    const list = document.querySelector("#cards");
    if (list === null) return;
    const cards = [...list.children] as HTMLElement[];
    const find = (control("find")?.value ?? "").toLowerCase();
    let shown = 0;
    for (const card of cards) {
      const fits = ["verdict", "form", "step"].every((key) => {
        const wanted = control(key)?.value ?? "";
        return wanted === "" || card.dataset[key] === wanted;
      });
      card.hidden = !(fits && (find === "" || (card.textContent ?? "").toLowerCase().includes(find)));
      if (!card.hidden) shown++;
    }
    const sort = control("sort")?.value ?? "reward";
    const key = sort.replace("-", "");
    const sign = sort.startsWith("-") ? -1 : 1;
    const value = (card: HTMLElement): number => {
      const number = Number(card.dataset[key]);
      // failed episodes have no reward: they come last in either direction
      return key === "reward" && card.dataset.verdict === "fault" ? Number.POSITIVE_INFINITY : sign * number;
    };
    list.append(...cards.sort((a, b) => value(a) - value(b)));
    const count = document.querySelector("#count");
    if (count !== null) count.textContent = `${shown} of ${cards.length} shown`;
  };
  document.addEventListener("input", (event) => {
    const input = event.target;
    if (input instanceof HTMLInputElement && input.name === "colour") document.body.dataset.colour = input.value;
    else if (input instanceof Element && input.closest(".filters") !== null) arrange();
  });
  for (const filters of document.querySelectorAll<HTMLElement>(".filters")) filters.hidden = false;
}

/** The script of the pages. */
export const REPORT_SCRIPT = `${moved};(${readCharts})(moved);(${probeTokens})(moved);(${browseRollouts})();`;
