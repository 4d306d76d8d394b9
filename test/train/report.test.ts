import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Rng } from "../../src/core/rng.js";
import { summarize, writeEvaluation } from "../../src/train/evaluation-report.js";
import { MetricsWriter } from "../../src/train/metrics.js";
import { readReportData, renderReport, writeReport } from "../../src/train/report.js";
import { type RolloutRecord, writeRollouts } from "../../src/train/rollout-record.js";
import { RunDirectory } from "../../src/train/run-directory.js";

const dir = mkdtempSync(join(tmpdir(), "report-"));
after(() => rmSync(dir, { recursive: true, force: true }));

const HOSTILE = `</pre><script>alert(1)</script><img src=x onerror="alert(2)">\u202e'`;

function rollout(index: number, changes: Partial<RolloutRecord> = {}): RolloutRecord {
  const reward = index / 8;
  return {
    step: 20,
    group: Math.floor(index / 4),
    rollout: index % 4,
    task_id: `embedded/starter/library/visitor-pass/train/000${index}`,
    form: "library/visitor-pass",
    prompt: "form: Visitor pass\nFull name | Ada Reed\nVisit date | 2025-03-04\nNewsletter | yes\n",
    response: "fill Full name | Ada Reed\nfill Visit date | 2025-03-04\ncheck Newsletter\nsubmit",
    reward,
    parts: { task_completion: reward, field_accuracy: reward, execution_completeness: 0.75 },
    success: index > 6,
    advantage: reward - 0.5,
    accepted: index > 3,
    truth: { "Full name": "Ada Reed", "Visit date": "2025-03-04", Newsletter: true, Topics: ["art", "maps"] },
    posted: [
      ["full_name", "Ada Reed"],
      ["visit_date", "2025-03-04"],
    ],
    actions: [
      { action: "fill Full name | Ada Reed", fate: "done" },
      { action: "check Newsletter", fate: "not found", detail: "no control of that name" },
    ],
    fault: null,
    tokens: 40,
    ...changes,
  };
}

async function exampleRun(name: string): Promise<RunDirectory> {
  const run = RunDirectory.create({ name, parent: dir });
  writeFileSync(run.config, "model: models/tiny-refusion\n");
  await run.writeEnvironment({
    command: "flow-grpo",
    config: "c.yaml",
    provider: "cpu",
    seeds: { run: 0 },
    hashes: {},
  });
  const rng = Rng.named(1, name);
  const writer = await MetricsWriter.open(run.metrics);
  for (let step = 1; step <= 20; step++) {
    const reward = 0.5 + step / 80 + 0.03 * rng.normal();
    writer.append({
      step,
      reward,
      reward_std: 0.15 + 0.02 * rng.uniform(),
      success_rate: reward / 2,
      field_accuracy: reward + 0.1,
      frac_reward_zero_std: rng.int(4) / 4,
      faults: step === 7 ? 2 : 0,
      loss: step === 9 ? null : 0.02 * rng.normal(),
      kl: 0.0002 * step,
      ratio_mean: 1 + 0.001 * rng.normal(),
      ratio_max: 1.1 + 0.1 * rng.uniform(),
      clip_fraction: 0.02 * rng.uniform(),
      grad_norm: 0.6 + 0.2 * rng.uniform(),
      lr: 1e-4,
      tokens: 800,
      rollout_tokens_per_s: 400 + 20 * rng.normal(),
      extra: { clamped_share: 0 },
      time: { rollout: 1.2, score: 0.4, update: 1.8, total: 3.5 },
    });
  }
  for (const [when, gain] of [
    ["before", 0],
    ["after", 0.12],
  ] as const) {
    const scores = Array.from({ length: 60 }, (_, i) => {
      const reward = Math.min(1, 0.2 + ((i * 7) % 10) / 12 + gain);
      return {
        task_id: `t${i}`,
        form: ["clinic/intake", "garden/plot", "music/lesson"][i % 3] as string,
        reward,
        success: reward > 0.8,
        field_accuracy: reward,
      };
    });
    await writeEvaluation(
      run.evaluation("heldout", when),
      summarize(scores, { split: "heldout", policy: "model", seed: 1, split_hash: "h", temperature: 1 }),
    );
  }
  await writeRollouts(run.rollouts(10), [rollout(1, { step: 10, task_id: "an older step" })]);
  await writeRollouts(run.rollouts(20), [
    ...Array.from({ length: 8 }, (_, i) => rollout(7 - i)),
    rollout(3, { reward: null, parts: null, advantage: null, fault: "browser closed", task_id: "the faulted one" }),
  ]);
  return run;
}

test("the page has curves, the table with its difference, and the latest rollouts worst first", async () => {
  const run = await exampleRun("example");
  const html = readFileSync(await writeReport(run), "utf8");
  for (const title of [
    "Reward",
    "Success",
    "Loss",
    "KL to the reference",
    "Probability ratio",
    "Shares",
    "Gradient norm",
    "Seconds a step",
    "clamped_share",
  ]) {
    assert.ok(html.includes(`aria-label="${title}"`), title);
  }
  assert.match(html, /<th rowspan="3">heldout<\/th><td class="num" rowspan="3">60 \/ 60<\/td><th>reward<\/th>/);
  assert.match(html, /\+0\.\d+ \[\+0\.\d+, \+0\.\d+\] \*/);
  assert.match(html, /garden\/plot/);
  assert.ok(!html.includes("an older step"));
  const rewards = [...html.matchAll(/<summary><b>([^<]*)<\/b>/g)].map((match) => match[1]);
  assert.deepEqual(rewards, ["0.000", "0.125", "0.250", "0.375", "0.500", "0.625", "0.750", "0.875", "–"]);
  assert.match(html, /Topics<\/th><td>art, maps/);
});

test("it is one page without script or network", async () => {
  const html = renderReport(readReportData(await exampleRun("alone")));
  assert.match(
    html,
    /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">/,
  );
  assert.ok(!/<script|<link|<img|<iframe|src=|url\(|@import|\bon\w+=/.test(html));
});

test("model output, posted values and names are text, never markup", async () => {
  const run = await exampleRun("hostile");
  await writeRollouts(run.rollouts(21), [
    rollout(0, {
      prompt: HOSTILE,
      response: HOSTILE,
      task_id: HOSTILE,
      form: HOSTILE,
      posted: [[HOSTILE, HOSTILE]],
      truth: { [HOSTILE]: HOSTILE },
      actions: [{ action: HOSTILE, fate: HOSTILE, detail: HOSTILE }],
    }),
    rollout(1, { fault: HOSTILE }),
  ]);
  writeFileSync(run.config, `# ${HOSTILE}\n`);
  const html = renderReport({ ...readReportData(run), name: HOSTILE, problems: [HOSTILE] });
  assert.ok(!/<script|<img|\u202e/.test(html));
  assert.ok(html.includes("&lt;script&gt;"));
});

test("an empty run and a damaged one still give a page", async () => {
  const empty = RunDirectory.create({ name: "empty", parent: dir });
  writeFileSync(empty.config, "");
  assert.match(renderReport(readReportData(empty)), /No step is recorded yet/);
  const run = await exampleRun("damaged");
  writeFileSync(run.environment, "{");
  writeFileSync(run.metrics, "nonsense\n");
  writeFileSync(run.evaluation("heldout"), "[]");
  mkdirSync(run.rolloutsDir, { recursive: true });
  writeFileSync(run.rollouts(30), "{}\n");
  const data = readReportData(run);
  assert.equal(data.problems.length, 4);
  const html = renderReport(data);
  assert.match(html, /Could not be read/);
  assert.match(html, />heldout<\/th>/);
});
