import { html } from "hono/html";
import type { Html } from "./html.js";

/** Line charts, drawn by uPlot in the page's script (client.ts); without script, a text gives the ends of each line. */

export interface Point {
  readonly x: number;
  /** Null leaves a gap. */
  readonly y: number | null;
  /** Ends of the interval around y. */
  readonly low?: number;
  readonly high?: number;
}

export interface Series {
  readonly label: string;
  readonly points: readonly Point[];
  /** Shows points with whiskers instead of a line with a band. */
  readonly whiskers?: boolean;
  /** Number of its colour; by default its place. */
  readonly colour?: number;
}

/** The chart's data for the page's script. */
export interface Plot {
  /** Values that the y axis always shows. */
  readonly include: readonly number[];
  readonly series: readonly Series[];
}

/** Most points of a line, about the width in pixels. */
const MAX_POINTS = 400;

/** Makes a chart's figure; empty without numbers. @param include values always on the y axis: 0 and 1 for a share. */
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

/** Describes a line in words. */
function inWords({ label, points }: Series): string {
  const known = points.filter(({ y }) => y !== null);
  const [a, b] = [known[0], known.at(-1)].map((p) => `${Number(p?.y?.toPrecision(4))} at step ${p?.x}`);
  return `${label} from ${a} to ${b}`;
}

/** Keeps every k-th point, and the last. */
function thin<T>(points: readonly T[]): T[] {
  const stride = Math.ceil(points.length / MAX_POINTS);
  return points.filter((_, i) => i % stride === 0 || i === points.length - 1);
}
