import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { html } from "hono/html";
import { writeAtomic } from "../../../src/core/files.js";
import { lineChart, type Plot } from "../../../src/features/report/chart.js";
import { curves } from "../../../src/features/report/curves.js";
import { readReportData } from "../../../src/features/report/data.js";
import { plain } from "../../../src/features/report/html.js";
import { revealReader } from "../../../src/features/report/look.js";
import { renderReport, writeReport } from "../../../src/features/report/report.js";
import { formatMetrics, type StepMetrics } from "../../../src/runs/metrics.js";
import { writeRollouts } from "../../../src/runs/rollout-record.js";
import { RunDirectory } from "../../../src/runs/run-directory.js";
import { exampleRun, HOSTILE, hostileRun, RESPONSE, rollout, supervisedRun } from "../../support/example-run.js";
import { stepMetrics } from "../../support/step-metrics.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("report");

/** The charts of a page by title, as its script reads them. */
function plotsOf(html: string): Map<string, Plot> {
  const found = html.matchAll(/aria-label="([^:"]*): [^"]*" data-plot="([^"]*)"/g);
  return new Map([...found].map(([, title = "", data = ""]) => [title, JSON.parse(data.replaceAll("&quot;", '"'))]));
}

const stepsOf = (plot: Plot | undefined, label: string): number[] | undefined =>
  plot?.series.find((series) => series.label === label)?.points.map(({ x }) => x);

test("the page has curves with evaluations, tables with differences, and rollouts worst first", async () => {
  const run = await exampleRun(dir, "example");
  const html = readFileSync(await writeReport(run), "utf8");
  for (const title of "Reward,Success,Loss,KL to the reference,Probability ratio,Shares,Gradient norm".split(","))
    assert.ok(html.includes(`aria-label="${title}: `), title);
  assert.match(
    html,
    /<header><h1>[^<]*<\/h1><p class="outcome">heldout: 24 of 60 forms whole, 12 before; certain\. Reward 0\.\d{3}, 0\.\d{3} before; certain\./,
  );
  // a line that says no more than a number is no chart
  assert.match(
    html,
    /The same in all steps: [^<]*Seconds a step \(total\) [^<]*; Learning rate 0\.\d+[^<]*; clamped_share /,
  );
  const plots = plotsOf(html);
  // before, in between, after
  assert.deepEqual(stepsOf(plots.get("Reward"), "heldout"), [0, 10, 20]);
  for (const title of ["Reward", "Success"]) {
    const points = plots.get(title)?.series[0]?.points;
    assert.ok(
      points?.some(({ low, high }) => (low ?? 1) < (high ?? 0)),
      title,
    );
  }
  assert.match(html, />heldout <small>60 \/ 60 episodes<\/small><\/th><\/tr><tr><th scope="row">reward<\/th>/);
  assert.match(html, /\+0\.\d+ <small>\[\+0\.\d+, \+0\.\d+\] \*<\/small>/);
  assert.match(html, /<th scope="row">garden\/plot<\/th><td class="num">20<\/td>/);
  const rewards = [...html.matchAll(/<summary><b class="num">([^<]*)<\/b>/g)].map((match) => match[1]);
  assert.deepEqual(rewards, ["0.000", "0.125", "0.125", "0.250", "0.375", "0.500", "0.625", "0.750", "0.875", "–"]);
  assert.match(html, /10 of 10 rollouts/);
  assert.match(html, /Topics<\/th><td>art, maps<\/td><td>art<\/td><td class="bad">0\.50/);
  assert.match(html, /Newsletter<\/th><td>yes<\/td><td class="dim">no such control<\/td><td class="bad">0\.00/);
});

test("a supervised run has the curves that it has, and the evaluation that was made of its last checkpoint", async () => {
  const html = readFileSync(await writeReport(await supervisedRun(dir, "supervised")), "utf8");
  const plots = plotsOf(html);
  assert.deepEqual([...plots.keys()], ["Reward", "Success", "Loss", "Gradient norm"]);
  // the update is all of a step: one number
  assert.match(html, /The same in all steps: Seconds a step \(total\) [\d.]+; Learning rate /);
  assert.doesNotMatch(html, /Bands: |Rollouts, worst first/);
  assert.deepEqual(stepsOf(plots.get("Reward"), "heldout"), [40]);
  assert.match(html, />heldout <small>– \/ 20 episodes<\/small><\/th>/);
});

test("a run with workers has their curves", () => {
  const workers = { workers: 3, waiting: 8, idle: 0.25 };
  const of = (rows: readonly StepMetrics[]): string =>
    String(curves({ metrics: rows, validations: [], rollouts: { intervals: [] } }));
  const html = of([1, 2].map((step) => stepMetrics(step, { workers: { ...workers, workers: step, idle: step / 4 } })));
  for (const title of ["Workers and jobs", "Idle share of the workers&#39; time"])
    assert.ok(html.includes(`aria-label="${title}: `), html.match(/aria-label="[^"]*orkers[^"]*"/g)?.join());
  assert.doesNotMatch(of([stepMetrics(1)]), /Workers/);
});

test("the response shows each token with its round and its probability", async () => {
  const html = renderReport(await readReportData(await exampleRun(dir, "heat")));
  const heat = /<div class="heat"[^>]*>(.*?)<\/div>/s.exec(html)?.[1] ?? "";
  const tokens = [...heat.matchAll(/<span class="([^"]*)" data-r="(\d)" data-p="([^"]*)">([^<]*)<\/span>/g)];
  assert.equal(tokens.map((token) => token[4]).join(""), RESPONSE.replaceAll("\n", "↵\n"));
  const actual = tokens.slice(0, 5).map((token) => token.slice(1, 4).join());
  assert.deepEqual(actual, ["o0 p7,1,0.99", "o2 p1 low,2,0.0498", "o5 p7,3,0.99", "o7 p7,4,0.99", "o0 p7,1,0.99"]);
});

test("a screenshot is part of the page", async () => {
  const run = await exampleRun(dir, "pictured");
  await writeAtomic(run.screenshot({ step: 20, group: 0, rollout: 0 }), Buffer.from("a picture"));
  const html = renderReport(await readReportData(run));
  const sources = [...html.matchAll(/<img alt="([^"]*)" src="data:image\/jpeg;base64,([^"]*)">/g)];
  const actual = sources.map(([, alt, data]) => [alt, atob(data ?? "")]);
  assert.deepEqual(actual, [["Page of library/visitor-pass as the plan left it", "a picture"]]);
});

test("model output, posted values and names are text, never markup", async () => {
  const data = await readReportData(await hostileRun(dir, "hostile"));
  const html = renderReport({ ...data, name: HOSTILE, problems: [HOSTILE] });
  assert.equal(html.match(/<script/g)?.length, 1);
  assert.equal(html.match(/<\/script/g)?.length, 1);
  assert.ok(!/<img|\u202e/.test(html));
  assert.ok(html.includes("&lt;script&gt;"));
  assert.match(html, /data-form="&lt;\/pre&gt;/);
});

test("the worst of the newest step and of the whole run, equal responses once; the rest is counted", async () => {
  const run = await exampleRun(dir, "many");
  for (let step = 1; step <= 12; step++) {
    const records = Array.from({ length: 8 }, (_, i) =>
      rollout(i, { step, reward: (step + i) / 20, task_id: `task ${step}`, response: i < 2 ? "same" : `plan ${i}` }),
    );
    await writeRollouts(run.rollouts(step), records);
  }
  const { rollouts } = await readReportData(run, { rollouts: 8 });
  assert.equal(rollouts.total, 12 * 8 + 9);
  assert.equal(rollouts.shown.length, 8);
  const newest = rollouts.shown.filter(({ record }) => record.step === 20);
  const actual = newest.map(({ record }) => record.reward);
  assert.deepEqual(actual, [0, 0.125, 0.25, null]);
  const others = rollouts.shown.filter(({ record }) => record.step < 20);
  const found = others.map(({ record, alike }) => `${alike} of step ${record.step}: ${record.reward}`);
  assert.deepEqual(found, ["2 of step 1: 0.05", "2 of step 2: 0.1", "2 of step 3: 0.15", "1 of step 1: 0.15"]);
  assert.match(renderReport(await readReportData(run, { rollouts: 8 })), /8 of 105 rollouts/);
});

test("a run of 50 steps x 64 rollouts gives a page of bounded size", async () => {
  const run = RunDirectory.create({ name: "large", parent: dir });
  writeFileSync(run.config, "model: models/tiny-refusion\n");
  writeFileSync(run.metrics, Array.from({ length: 50 }, (_, i) => `${formatMetrics(stepMetrics(i + 1))}\n`).join(""));
  for (let step = 1; step <= 50; step++) {
    const records = Array.from({ length: 64 }, (_, i) =>
      rollout(i % 8, { step, group: i % 8, rollout: Math.floor(i / 8), response: `plan ${step} ${i}` }),
    );
    // the shipped writer syncs every file to the disk
    mkdirSync(run.rolloutsDir, { recursive: true });
    writeFileSync(run.rollouts(step), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  }
  const data = await readReportData(run);
  assert.deepEqual([data.rollouts.total, data.rollouts.shown.length, data.rollouts.intervals.length], [3200, 64, 50]);
  assert.ok(renderReport(data).length < 1_500_000);
});

test("an empty run and a damaged one still give a page", async () => {
  const empty = RunDirectory.create({ name: "empty", parent: dir });
  writeFileSync(empty.config, "");
  assert.match(renderReport(await readReportData(empty)), /No step is recorded yet/);
  const run = await exampleRun(dir, "damaged");
  writeFileSync(run.environment, "{");
  writeFileSync(run.metrics, "nonsense\n");
  writeFileSync(run.evaluation("heldout"), "[]");
  mkdirSync(run.rolloutsDir, { recursive: true });
  writeFileSync(run.rollouts(30), "{}\n");
  writeFileSync(run.rollouts(29), "nonsense\n");
  writeFileSync(run.config, "model: [\n");
  const data = await readReportData(run);
  assert.equal(data.problems.length, 5);
  const html = renderReport(data);
  assert.match(html, /Could not be read/);
  assert.match(html, />heldout <small>/);
  // without the model's tokenizer, tokens are numbers
  assert.match(html, /data-r="1" data-p="0\.99">\d+ <\/span>/);
});

test("the page names blanks whose reward never depends on what is written there, and no others", async () => {
  const run = await exampleRun(dir, "unmoved");
  // Name is judged, Colour takes two values and one reward, Size takes one value
  const records = Array.from({ length: 40 }, (_, i) => {
    const response = `name ${i % 2}\ncolour ${i % 2}\nsize 1`;
    const part = (name: string, start: number, reward: number) => ({ name, start, end: start + 6, reward });
    const parts = [part("Name", 0, i % 2), part("Colour", 9, 1), part("Size", 16, 0)];
    return { ...rollout(0, { group: 3, rollout: i }), turns: [{ prompt: "", response, parts }] };
  });
  await writeRollouts(run.rollouts(20), records);
  const html = renderReport(await readReportData(run));
  const named = /nothing is learned about them:\s*([^<]*<b>.*?)<\/p>/s.exec(html)?.[1];
  assert.match(named ?? html, /^<b>Colour<\/b> of \S+ \(2 values in 40 rollouts, always 1\)\.$/);
});

const plotOf = (chart: string): Plot => [...plotsOf(chart).values()][0] as Plot;

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

const unmasked = {
  response: [7, 8, 9],
  rounds: [
    { positions: [1], logProbs: [-0.5], tokens: [8], eosAllowed: [false] },
    { positions: [0, 2], logProbs: [-0.1, -0.2], tokens: [7, 9], eosAllowed: [true, true] },
  ],
};
const jumped = {
  response: [7, 8],
  source: [3, 8, 5],
  steps: [
    { tokens: [7, 4, 5], logProbs: [-0.1, -0.2, -0.3] },
    { tokens: [7, 8, 6], logProbs: [-0.4, -0.5, -0.6] },
  ],
};

test("each sampler's record says when its tokens came to stay, from left to right", async () => {
  assert.deepEqual((await revealReader("unmask"))(unmasked), [
    { position: 0, token: 7, step: 1, logProb: -0.1 },
    { position: 1, token: 8, step: 0, logProb: -0.5 },
    { position: 2, token: 9, step: 1, logProb: -0.2 },
  ]);
  const expected = [
    { position: 0, token: 7, step: 0, logProb: -0.1 },
    { position: 1, token: 8, step: 1, logProb: -0.5 },
  ];
  assert.deepEqual((await revealReader("jump"))(jumped), expected);
  // a config that does not name its sampler
  assert.deepEqual((await revealReader(undefined))(jumped), expected);
});

test("what no sampler recorded has no order, and is no error", async () => {
  for (const kind of ["unmask", "jump", undefined]) {
    const reveals = await revealReader(kind);
    for (const odd of [undefined, null, 1, {}, [], { response: [1] }, { response: ["x"], rounds: [], steps: [] }])
      assert.equal(reveals(odd), undefined);
  }
  assert.equal((await revealReader("jump"))(unmasked), undefined);
});
