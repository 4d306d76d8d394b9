import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { escapeHtml } from "../../../src/core/html.js";
import { formatTick, lineChart, ticks } from "../../../src/features/report/chart.js";

test("ticks are few, even, round, and cover the range", () => {
  assert.deepEqual(ticks(0, 1), [0, 0.25, 0.5, 0.75, 1]);
  assert.deepEqual(ticks(-0.1, 0.32, 4), [-0.2, 0, 0.2, 0.4]);
  const finite = fc.double({ min: -1e9, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(finite, finite, (a, b) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)];
      // closer than this the steps are below the resolution of a double
      fc.pre(high - low > 1e-6 * Math.max(1, Math.abs(low), Math.abs(high)) || low === high);
      const values = ticks(low, high);
      const slack = 1e-6 * (high - low) + 1e-9 * Math.abs(high);
      return (
        values.length >= 2 &&
        values.length <= 7 &&
        (values[0] as number) <= low + slack &&
        (values.at(-1) as number) >= high - slack
      );
    }),
    { seed: 1 },
  );
});

test("gaps break a line, equal values and single points still draw", () => {
  const chart = lineChart({ title: "t", series: [{ label: "a", points: [1, 2, null, 4].map((y, x) => ({ x, y })) }] });
  assert.equal(chart.match(/<path/g)?.length, 1);
  assert.equal(/d="([^"]*)"/.exec(chart)?.[1]?.match(/M/g)?.length, 2);
  assert.match(chart, /data-x="0 1 3" data-y="1 2 4"/);
  for (const ys of [[0], [3, 3], [Number.NaN, 1], [1e-12, 1e12]]) {
    const svg = lineChart({ title: "t", series: [{ label: "a", points: ys.map((y, x) => ({ x, y })) }] });
    assert.ok(svg.includes("<path") && !/NaN|Infinity/.test(svg), svg);
  }
  assert.equal(lineChart({ title: "t", series: [{ label: "a", points: [{ x: 0, y: null }] }] }), "");
});

test("a band and whiskers are part of the axis and of the picture; the picture is told in words", () => {
  const chart = lineChart({
    title: "Reward",
    series: [
      {
        label: "rollouts",
        points: [1, 2].map((x) => ({ x, y: x / 10 })),
        band: [1, 2].map((x) => ({ x, low: -1, high: 0.5 })),
      },
      { label: "val", points: [{ x: 0, y: 0.3 }], whiskers: [{ x: 0, low: 0.1, high: 2 }] },
    ],
  });
  assert.match(chart, /<path class="band s0" d="M[^"]*Z"/);
  assert.match(chart, /<line class="whisker s1"/);
  assert.match(chart, />-1<\/text>[\s\S]*>2<\/text>/);
  assert.match(chart, /aria-label="Reward: rollouts from 0.1 at step 1 to 0.2 at step 2; val from 0.3 at step 0/);
});

test("a long run is thinned but keeps its ends", () => {
  const points = Array.from({ length: 100_000 }, (_, x) => ({ x, y: x }));
  const chart = lineChart({ title: "t", series: [{ label: "a", points }] });
  assert.ok(chart.length < 20_000);
  assert.match(chart, /L408 \S+"/);
});

test("texts are escaped; control and direction characters are shown as codes", () => {
  assert.equal(escapeHtml(`<a href='x'>&"`), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
  assert.equal(escapeHtml("a\u202eb\u0000\r\n\tc\ud800"), "a\\u202eb\\u0000\\u000d\n\tc\\ud800");
  assert.equal(escapeHtml("naïve 漢字 😀"), "naïve 漢字 😀");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) =>
      ["<", ">", '"', "'", "\u0000"].every((c) => !escapeHtml(text).includes(c)),
    ),
    { seed: 1 },
  );
});

test("tick labels", () => {
  assert.deepEqual(
    [0, 0.25, 1e-4, 250000, 1234.5].map((value) => formatTick(value)),
    ["0", "0.25", "1.0e-4", "2.5e5", "1235"],
  );
  assert.equal(formatTick(1.00001, 6), "1.00001");
});
