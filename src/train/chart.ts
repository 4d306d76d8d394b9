/** Line charts as inline SVG, drawn here so that a report needs no script and no network. */

export interface Point {
  readonly x: number;
  /** Null leaves a gap. */
  readonly y: number | null;
}

export interface Series {
  readonly label: string;
  readonly points: readonly Point[];
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
const LEFT = 52;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 34;
/** More points than pixels only make the page large. */
const MAX_POINTS = 400;
const MAX_MARKS = 60;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Text for HTML, in element content and quoted attributes. Control and direction characters are shown as their code, so
 * that a model's output cannot reorder or hide text of the page.
 */
export function escapeHtml(value: unknown): string {
  return String(value)
    .replace(/[&<>"']/g, (c) => ENTITIES[c] as string)
    .replace(/[\p{Cc}\p{Cs}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe\uffff]/gu, (c) =>
      c === "\n" || c === "\t" ? c : `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
    );
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
    .map((s) => ({ ...s, points: thin(s.points) }))
    .filter((s) => s.points.some((p) => isNumber(p.y)));
  const values = [...drawn.flatMap((s) => s.points.map((p) => p.y).filter(isNumber)), ...include];
  const xs = drawn.flatMap((s) => s.points.map((p) => p.x));
  if (drawn.length === 0) return "";
  const yTicks = ticks(min(values), max(values));
  // a ratio of 1 +- 1e-5 needs more digits, or every tick would read 1
  const digits = [4, 6, 8].find((n) => new Set(yTicks.map((t) => formatTick(t, n))).size === yTicks.length) ?? 10;
  const [low, high] = [yTicks[0] as number, yTicks.at(-1) as number];
  const [first, last] = [min(xs), max(xs)];
  const x = (value: number): number => LEFT + ((value - first) / (last - first || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number): number => TOP + (1 - (value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const xTicks = ticks(first, last, 5).filter((tick) => Number.isInteger(tick) && tick >= first && tick <= last);

  const grid = yTicks.map(
    (tick) =>
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${px(y(tick))}" y2="${px(y(tick))}"/>` +
      `<text class="tick" x="${LEFT - 6}" y="${px(y(tick) + 3.5)}" text-anchor="end">${formatTick(tick, digits)}</text>`,
  );
  const axis = xTicks.map(
    (tick) =>
      `<text class="tick" x="${px(x(tick))}" y="${HEIGHT - BOTTOM + 15}" text-anchor="middle">${formatTick(tick)}</text>`,
  );
  const lines = drawn.map((s, i) => {
    const marks = s.points.length > MAX_MARKS ? [] : s.points.filter((p) => isNumber(p.y));
    const circles = marks.map(
      (p) =>
        `<circle class="mark s${i % 4}" cx="${px(x(p.x))}" cy="${px(y(p.y as number))}" r="2.2">` +
        `<title>${escapeHtml(s.label)}, ${escapeHtml(xLabel)} ${p.x}: ${formatTick(p.y as number)}</title></circle>`,
    );
    return `<path class="line s${i % 4}" d="${pathOf(s.points, x, y)}"/>${circles.join("")}`;
  });
  const legend =
    drawn.length < 2 ? "" : drawn.map((s, i) => `<span class="key k${i % 4}">${escapeHtml(s.label)}</span>`).join(" ");
  return (
    `<figure><figcaption>${escapeHtml(title)} ${legend}</figcaption>` +
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(title)}">${grid.join("")}${axis.join("")}` +
    `<text class="tick" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 4}" text-anchor="middle">${escapeHtml(xLabel)}</text>` +
    `${lines.join("")}</svg></figure>`
  );
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
function thin(points: readonly Point[]): Point[] {
  const stride = Math.ceil(points.length / MAX_POINTS);
  return points.filter((_, i) => i % stride === 0 || i === points.length - 1);
}

function isNumber(value: number | null): value is number {
  return value !== null && Number.isFinite(value);
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

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
