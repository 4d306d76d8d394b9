import { escapeHtml } from "../../core/html.js";

/** Line charts as inline SVG: they are there without any script; the report's script only adds a readout. */

export interface Point {
  readonly x: number;
  /** Null leaves a gap. */
  readonly y: number | null;
}

export interface Band {
  readonly x: number;
  readonly low: number;
  readonly high: number;
}

export interface Series {
  readonly label: string;
  readonly points: readonly Point[];
  /** Interval around the line. */
  readonly band?: readonly Band[];
  /** Points with whiskers instead of a line. */
  readonly whiskers?: readonly Band[];
}

export interface ChartOptions {
  readonly title: string;
  readonly series: readonly Series[];
  /** The axis always includes these values: 0 and 1 for a share. */
  readonly include?: readonly number[];
  readonly xLabel?: string;
}

const WIDTH = 420;
const HEIGHT = 210;
/** Room for labels of the y axis: at least this, more for long numbers. */
const LEFT = 44;
const DIGIT = 6.2;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 34;
/** More points than pixels only make the page large. */
const MAX_POINTS = 400;

interface Scale {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

/** At most `count` + 2 round numbers that cover [low, high]. */
export function ticks(low: number, high: number, count = 4): number[] {
  const span = high - low || Math.abs(high) || 1;
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 2.5, 5].find((m) => m * power >= raw * 0.999) ?? 10) * power;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** A figure with title, legend and SVG. Empty where no series has a number. */
export function lineChart({ title, series, include = [], xLabel = "step" }: ChartOptions): string {
  const drawn = series
    .map((s) => ({ ...s, points: thin(s.points), band: thin(s.band ?? []), whiskers: s.whiskers ?? [] }))
    .filter((s) => s.points.some((p) => isNumber(p.y)));
  if (drawn.length === 0) return "";
  const edges = drawn.flatMap((s) => [...s.band, ...s.whiskers].flatMap(({ low, high }) => [low, high]));
  const values = [...drawn.flatMap((s) => s.points.map((p) => p.y).filter(isNumber)), ...edges, ...include];
  const xs = drawn.flatMap((s) => s.points.map((p) => p.x));
  const yTicks = ticks(min(values), max(values));
  // a ratio of 1 +- 1e-5 needs more digits, or every tick would read 1
  const digits = [4, 6, 8].find((n) => new Set(yTicks.map((t) => formatTick(t, n))).size === yTicks.length) ?? 10;
  const longest = Math.max(...yTicks.map((tick) => formatTick(tick, digits).length));
  const left = Math.max(LEFT, Math.ceil(longest * DIGIT) + 8);
  const [low, high] = [yTicks[0] as number, yTicks.at(-1) as number];
  const [first, last] = [min(xs), max(xs)];
  const scale: Scale = {
    x: (value) => left + ((value - first) / (last - first || 1)) * (WIDTH - left - RIGHT),
    y: (value) => TOP + (1 - (value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM),
  };
  const xTicks = ticks(first, last, 5).filter((tick) => Number.isInteger(tick) && tick >= first && tick <= last);

  const grid = yTicks.map((tick) => {
    const y = px(scale.y(tick));
    return (
      `<line class="grid" x1="${left}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/>` +
      `<text class="tick" x="${left - 6}" y="${px(scale.y(tick) + 3.5)}" text-anchor="end">${formatTick(tick, digits)}</text>`
    );
  });
  const axis = xTicks.map(
    (tick) =>
      `<text class="tick" x="${px(scale.x(tick))}" y="${HEIGHT - BOTTOM + 15}" text-anchor="middle">${formatTick(tick)}</text>`,
  );
  const bodies = drawn.map((s, i) => seriesBody(s, i % 4, scale, digits));
  const legend =
    drawn.length < 2 ? "" : drawn.map((s, i) => `<span class="key k${i % 4}">${escapeHtml(s.label)}</span>`).join(" ");
  return (
    `<figure class="chart"><figcaption>${escapeHtml(title)} ${legend}</figcaption>` +
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(summary(title, drawn, xLabel))}" tabindex="0"` +
    ` data-first="${first}" data-last="${last}" data-left="${left}" data-right="${WIDTH - RIGHT}">${grid.join("")}${axis.join("")}` +
    `<text class="tick" x="${(left + WIDTH - RIGHT) / 2}" y="${HEIGHT - 4}" text-anchor="middle">${escapeHtml(xLabel)}</text>` +
    `${bodies.join("")}<line class="cursor" y1="${TOP}" y2="${HEIGHT - BOTTOM}" x1="-9" x2="-9"/></svg>` +
    `<output class="readout" aria-live="polite"></output></figure>`
  );
}

type Drawn = Required<Series>;

/** The exact values go along, for the readout. */
function seriesBody(s: Drawn, colour: number, { x, y }: Scale, digits: number): string {
  const known = s.points.filter((p): p is { x: number; y: number } => isNumber(p.y));
  const data =
    ` data-label="${escapeHtml(s.label)}" data-x="${known.map((p) => p.x).join(" ")}"` +
    ` data-y="${known.map((p) => formatTick(p.y, Math.max(digits, 4))).join(" ")}"`;
  if (s.whiskers.length > 0) {
    const lines = s.whiskers.map(
      (w) =>
        `<line class="whisker s${colour}" x1="${px(x(w.x))}" x2="${px(x(w.x))}" y1="${px(y(w.low))}" y2="${px(y(w.high))}"/>`,
    );
    const dots = known.map((p) => `<circle class="mark s${colour}" cx="${px(x(p.x))}" cy="${px(y(p.y))}" r="3"/>`);
    return `<g class="series"${data}>${lines.join("")}${dots.join("")}</g>`;
  }
  const area =
    s.band.length < 2
      ? ""
      : `<path class="band s${colour}" d="M${s.band.map((b) => `${px(x(b.x))} ${px(y(b.high))}`).join("L")}L${[
          ...s.band,
        ]
          .reverse()
          .map((b) => `${px(x(b.x))} ${px(y(b.low))}`)
          .join("L")}Z"/>`;
  // a line needs two points
  const dot =
    known.length === 1 && known[0] !== undefined
      ? `<circle class="mark s${colour}" cx="${px(x(known[0].x))}" cy="${px(y(known[0].y))}" r="3"/>`
      : "";
  return `<g class="series"${data}>${area}<path class="line s${colour}" d="${pathOf(s.points, x, y)}"/>${dot}</g>`;
}

/** Gives what a reader who sees no picture is told. */
function summary(title: string, series: readonly Drawn[], xLabel: string): string {
  const parts = series.map((s) => {
    const known = s.points.filter((p) => isNumber(p.y));
    const [a, b] = [known[0], known.at(-1)];
    if (a === undefined || b === undefined) return s.label;
    return `${s.label} from ${formatTick(a.y as number)} at ${xLabel} ${a.x} to ${formatTick(b.y as number)} at ${xLabel} ${b.x}`;
  });
  return `${title}: ${parts.join("; ")}`;
}

function pathOf(points: readonly Point[], x: (v: number) => number, y: (v: number) => number): string {
  let path = "";
  let pen = "M";
  for (const point of points) {
    if (!isNumber(point.y)) {
      pen = "M";
      continue;
    }
    path += `${pen}${px(x(point.x))} ${px(y(point.y))}`;
    pen = "L";
  }
  return path;
}

/** Every k-th point, and the last. */
function thin<T>(points: readonly T[]): T[] {
  const stride = Math.ceil(points.length / MAX_POINTS);
  return points.filter((_, i) => i % stride === 0 || i === points.length - 1);
}

function isNumber(value: number | null): value is number {
  return value !== null && Number.isFinite(value);
}

/** Rounds a coordinate to a tenth of a pixel. */
export function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Writes a number with so many significant digits, or with an exponent where it is very small or large. */
export function formatTick(value: number, digits = 4): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3
    ? value.toExponential(1).replace("e+", "e")
    : String(Number(value.toPrecision(digits)));
}

function min(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}

function max(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
}
