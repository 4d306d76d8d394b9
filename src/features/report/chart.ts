import { html } from "hono/html";
import type { Html } from "./html.js";

/** Line charts, which the page's script draws by uPlot (client.ts). Without it each says in words where its lines begin and end. */

export interface Point {
  readonly x: number;
  /** Null leaves a gap. */
  readonly y: number | null;
  /** Ends of the interval around it. */
  readonly low?: number;
  readonly high?: number;
}

export interface Series {
  readonly label: string;
  readonly points: readonly Point[];
  /** Points with their intervals as whiskers, in place of a line in a band. */
  readonly whiskers?: boolean;
}

/** A chart as the page's script reads it. */
export interface Plot {
  /** Values that the y axis always shows. */
  readonly include: readonly number[];
  readonly series: readonly Series[];
}

/** More points than pixels only make the page large. */
const MAX_POINTS = 400;

/** A figure with title and chart; empty where no series has a number. @param include values that the y axis always shows: 0 and 1 for a share. */
export function lineChart(title: string, all: readonly Series[], include: readonly number[] = []): Html {
  const series = all
    .map((s) => ({ ...s, points: thin(s.points.map((p) => ({ ...p, y: Number.isFinite(p.y) ? p.y : null }))) }))
    .filter(({ points }) => points.some(({ y }) => y !== null));
  if (series.length === 0) return html``;
  const plot: Plot = { include, series };
  const words = `${title}: ${series.map(inWords).join("; ")}`;
  return html`<figure class="chart"><figcaption>${title}</figcaption>
<div class="plot" role="img" tabindex="0" aria-label="${words}" data-plot="${JSON.stringify(plot)}"><noscript>${words}</noscript></div></figure>`;
}

/** Tells a line to a reader who sees no picture. */
function inWords({ label, points }: Series): string {
  const known = points.filter(({ y }) => y !== null);
  const [a, b] = [known[0], known.at(-1)].map((p) => `${Number(p?.y?.toPrecision(4))} at step ${p?.x}`);
  return `${label} from ${a} to ${b}`;
}

/** Every k-th point, and the last. */
function thin<T>(points: readonly T[]): T[] {
  const stride = Math.ceil(points.length / MAX_POINTS);
  return points.filter((_, i) => i % stride === 0 || i === points.length - 1);
}
