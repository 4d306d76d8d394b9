import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type uPlot from "uplot";
import type { Plot } from "./chart.js";

/*
 * The page's script. It runs in the browser as text (`REPORT_SCRIPT`), so each function may use nothing outside itself.
 * It adds charts, readouts, keyboard access, filters and sorting to the page, also to content that is inserted later.
 */

/** Computes the index that an arrow key, Home or End moves to; undefined for other keys. */
type Moved = (event: KeyboardEvent, at: number | undefined, count: number) => number | undefined;

function moved(event: KeyboardEvent, at: number | undefined, count: number): number | undefined {
  const step = { ArrowRight: 1, ArrowLeft: -1, Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY }[
    event.key
  ];
  if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return undefined;
  event.preventDefault();
  return Math.min(count - 1, Math.max(0, (at ?? (step > 0 ? -1 : count)) + step));
}

/**
 * Draws each chart when it first has a size (in closed sections it has none). The legend shows values at the pointer
 * or the keyboard's cursor; dragging zooms in, and a double click resets the zoom.
 */
function drawCharts(uPlot: typeof import("uplot"), moved: Moved): void {
  const drawn = new Map<HTMLElement, uPlot>();
  const colour = (name: string) => (): string => getComputedStyle(document.body).getPropertyValue(`--${name}`).trim();
  const written = (value: number | null | undefined): string =>
    typeof value !== "number"
      ? "–"
      : Math.abs(value) >= 1e5
        ? value.toExponential(1)
        : String(Number(value.toPrecision(4)));

  /** Writes ticks with as many decimals as their distance needs. */
  const tickTexts = (ticks: readonly number[], apart: number): string[] => {
    let decimals = 0;
    const inUnits = (): number => apart * 10 ** decimals;
    while (decimals < 15 && (inUnits() < 0.999 || Math.abs(inUnits() - Math.round(inUnits())) > 1e-3)) decimals++;
    const most = Math.max(...ticks.map(Math.abs));
    const fixed = most < 1e5 && most >= 1e-3;
    return ticks.map((value) =>
      fixed || value === 0
        ? value.toFixed(fixed ? decimals : 0)
        : value.toExponential(Math.max(0, decimals + Math.floor(Math.log10(Math.abs(value)) + 1e-9))),
    );
  };
  type Line = Plot["series"][number];
  /** Returns the means of a line over each point's neighbours, within a 24th of the line; a short line stays. */
  const smoothed = ({ points, whiskers }: Line): (number | null)[] =>
    points.map(({ y }, i) => {
      const reach = Math.min(Math.floor(points.length / 24), i, points.length - 1 - i);
      if (y === null || whiskers) return y;
      const near = points.slice(i - reach, i + reach + 1).flatMap((point) => point.y ?? []);
      return near.reduce((sum, value) => sum + value, 0) / near.length;
    });
  /** Fills the legend with the last value of each line. */
  const showLast = (u: uPlot): void => {
    const idxs = u.data.map((values) =>
      [...values].map((value) => value !== null && value !== undefined).lastIndexOf(true),
    );
    u.setLegend({ idxs }, false);
  };

  /** Draws the intervals, bands around lines or whiskers, and the points behind each mean. */
  const drawIntervals = (u: uPlot, series: Plot["series"]): void => {
    const at = (x: number, y: number): [number, number] => [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
    series.forEach(({ points, whiskers, colour: own }, i) => {
      const path = new Path2D();
      const known = points.flatMap(({ x, low, high }) =>
        low === undefined || high === undefined ? [] : [{ x, low, high }],
      );
      for (const { x, low, high } of known) {
        if (whiskers) path.moveTo(...at(x, low));
        path.lineTo(...at(x, high));
      }
      if (!whiskers) for (const { x, low } of known.reverse()) path.lineTo(...at(x, low));
      u.ctx.globalAlpha = whiskers ? 1 : 0.12;
      u.ctx.strokeStyle = u.ctx.fillStyle = colour(`s${(own ?? i) % 8}`)();
      if (whiskers) u.ctx.stroke(path);
      else u.ctx.fill(path);
      const raw = new Path2D();
      points.forEach(({ x, y }, p) => {
        if (y === null) return;
        if (p === 0 || points[p - 1]?.y === null) raw.moveTo(...at(x, y));
        else raw.lineTo(...at(x, y));
      });
      u.ctx.globalAlpha = 0.35;
      u.ctx.lineWidth = devicePixelRatio;
      if (!whiskers) u.ctx.stroke(raw);
      u.ctx.globalAlpha = 1;
    });
  };

  const draw = (place: HTMLElement): uPlot => {
    const { series, include } = JSON.parse(place.dataset.plot ?? "") as Plot;
    const shown = series.flatMap(({ points }) => points.map(({ x, y, low, high }) => ({ x, ys: [y, low, high] })));
    const range = (u: uPlot, low: number, high: number): uPlot.Range.MinMax => {
      const { min = -Infinity, max = Infinity } = u.scales.x ?? {};
      const ends = shown.filter(({ x }) => x >= (min ?? -Infinity) && x <= (max ?? Infinity)).flatMap(({ ys }) => ys);
      const all = [low, high, ...include, ...ends].filter((y) => typeof y === "number");
      const [least, most] = [Math.min(...all), Math.max(...all)];
      // noise of the last digits is no curve
      const flat = most - least < Math.abs(most) * 1e-3 ? Math.abs(most) * 1e-3 : 0;
      return uPlot.rangeNum(least - flat, most + flat, 0.1, true);
    };
    const axis = { stroke: colour("dim"), font: "11px system-ui,sans-serif", ticks: { show: false } };
    const options: uPlot.Options = {
      width: place.clientWidth,
      height: 170,
      scales: { x: { time: false }, y: { range } },
      axes: [
        {
          ...axis,
          size: 26,
          grid: { show: false },
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5],
        },
        {
          ...axis,
          grid: { stroke: colour("rule"), width: 1 },
          values: (_, ticks, __, ___, apart) => tickTexts(ticks, apart),
        },
      ],
      series: [
        { label: "step", value: (_, x) => String(x ?? "–") },
        ...series.map(({ label, points, whiskers, colour: own }, i) => {
          const raw = new Map(points.map(({ x, y }) => [x, y]));
          return {
            label,
            stroke: colour(`s${(own ?? i) % 8}`),
            width: whiskers ? 0 : 2,
            points: { show: whiskers || points.length === 1, size: 6 },
            value: (u: uPlot, _: number | null, __: number, at: number | null) =>
              written(at === null ? null : raw.get(u.data[0][at] as number)),
          };
        }),
      ],
      legend: { markers: { fill: (_, i) => colour(`s${(series[i - 1]?.colour ?? i - 1) % 8}`)() } },
      // show no value where a line has none
      cursor: { dataIdx: (_, __, at) => at },
      hooks: {
        drawAxes: [(u) => drawIntervals(u, series)],
        ready: [showLast],
        setCursor: [(u) => (u.cursor.left ?? -1) < 0 && showLast(u)],
      },
    };
    const tables = series.map((line): uPlot.AlignedData => [line.points.map(({ x }) => x), smoothed(line)]);
    const u = new uPlot(options, uPlot.join(tables), place);
    u.root.querySelector(".u-legend")?.setAttribute("aria-live", "polite");
    place.addEventListener("keydown", (event) => {
      const index = moved(event, u.cursor.idx ?? undefined, u.data[0].length);
      if (index !== undefined) u.setCursor({ left: u.valToPos(u.data[0][index] as number, "x"), top: 0 });
    });
    return u;
  };

  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const place = target as HTMLElement;
      if (place.clientWidth === 0) continue;
      if (!drawn.has(place)) drawn.set(place, draw(place));
      else drawn.get(place)?.setSize({ width: place.clientWidth, height: 170 });
    }
  });
  // the live page replaces its charts
  const follow = (): void => {
    for (const [place, u] of drawn) if (!place.isConnected && drawn.delete(place)) u.destroy();
    for (const place of document.querySelectorAll<HTMLElement>(".plot")) if (!drawn.has(place)) sized.observe(place);
  };
  follow();
  new MutationObserver(follow).observe(document.body, { childList: true, subtree: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const u of drawn.values()) u.redraw();
  });
}

/** Shows the round and the probability of a heat map's token at the pointer or the keyboard's cursor. */
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

const uPlotFile = (name: string): string =>
  readFileSync(createRequire(import.meta.url).resolve(`uplot/dist/${name}`), "utf8");

/** The script of the pages, with uPlot. */
export const REPORT_SCRIPT = `${uPlotFile("uPlot.iife.min.js")};${moved};(${drawCharts})(uPlot,moved);(${probeTokens})(moved);(${browseRollouts})();`;

/** The style sheet of uPlot. */
export const CHART_STYLE = uPlotFile("uPlot.min.css");
