import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { html } from "hono/html";
import { lineChart, type Plot } from "../../../src/features/report/chart.js";
import { plain } from "../../../src/features/report/html.js";

/** What the page's script reads of a chart. */
function plotOf(chart: string): Plot {
  const text = /data-plot="([^"]*)"/.exec(chart)?.[1] ?? "";
  return JSON.parse(text.replaceAll("&quot;", '"').replaceAll("&amp;", "&")) as Plot;
}

test("what is no number is a gap, and a chart of none is left out", () => {
  const points = [1, Number.NaN, null, 4].map((y, x) => ({ x, y }));
  const { series } = plotOf(String(lineChart("t", [{ label: "a", points }])));
  const ys = series[0]?.points.map(({ y }) => y);
  assert.deepEqual(ys, [1, null, null, 4]);
  assert.equal(String(lineChart("t", [{ label: "a", points: [{ x: 0, y: null }] }])), "");
});

test("intervals go along, and the picture is told in words", () => {
  const rollouts = { label: "rollouts", points: [1, 2].map((x) => ({ x, y: x / 10, low: -1, high: 0.5 })) };
  const val = { label: "val", whiskers: true, points: [{ x: 0, y: 0.3, low: 0.1, high: 2 }] };
  const chart = String(lineChart("Reward <>", [rollouts, val]));
  assert.match(
    chart,
    /aria-label="Reward &lt;&gt;: rollouts from 0.1 at step 1 to 0.2 at step 2; val from 0.3 at step/,
  );
  assert.match(chart, /<noscript>Reward &lt;&gt;: rollouts from/);
  assert.deepEqual(plotOf(chart).series[1]?.points, [{ x: 0, y: 0.3, low: 0.1, high: 2 }]);
});

test("a long run is thinned but keeps its ends", () => {
  const points = Array.from({ length: 100_000 }, (_, x) => ({ x, y: x }));
  const chart = String(lineChart("t", [{ label: "a", points }]));
  assert.ok(chart.length < 40_000);
  const xs = plotOf(chart).series[0]?.points.map(({ x }) => x);
  assert.deepEqual([xs?.[0], xs?.at(-1)], [0, 99_999]);
});

test("texts are escaped; control and direction characters are shown as codes", () => {
  const shown = (text: string): string => String(plain(html`${text}`));
  assert.equal(shown(`<a href='x'>&"`), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
  assert.equal(shown("a\u202eb\u0000\r\n\tc\ud800"), "a\\u202eb\\u0000\\u000d\n\tc\\ud800");
  assert.equal(shown("naïve 漢字 😀"), "naïve 漢字 😀");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) =>
      ["<", ">", '"', "'", "\u0000"].every((c) => !shown(text).includes(c)),
    ),
    { seed: 1 },
  );
});
