import { existsSync, readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { messageOf, UserError } from "../core/errors.js";
import { writeAtomic } from "../core/files.js";
import { escapeHtml, lineChart, type Series } from "./chart.js";
import {
  compareEvaluations,
  type Evaluation,
  formatDifference,
  formatInterval,
  readEvaluation,
} from "./evaluation-report.js";
import { readMetrics, type StepMetrics } from "./metrics.js";
import { REPORT_STYLE } from "./report-style.js";
import { type RolloutRecord, readRollouts } from "./rollout-record.js";
import type { RunDirectory, RunEnvironment } from "./run-directory.js";

/** Rollouts shown of the latest recorded step. */
const MAX_ROLLOUTS = 40;

/** Everything a report shows, read from a run directory. */
export interface ReportData {
  readonly name: string;
  readonly config: string;
  readonly environment: RunEnvironment | null;
  readonly metrics: readonly StepMetrics[];
  readonly evaluations: readonly {
    readonly split: string;
    readonly before: Evaluation | null;
    readonly after: Evaluation | null;
  }[];
  readonly rollouts: { readonly step: number; readonly records: readonly RolloutRecord[] } | null;
  /** Files that could not be read: a report of a damaged run still shows the rest. */
  readonly problems: readonly string[];
}

/** Writes report.html of a run and returns its path. */
export async function writeReport(run: RunDirectory): Promise<string> {
  await writeAtomic(run.report, renderReport(readReportData(run)));
  return run.report;
}

export function readReportData(run: RunDirectory): ReportData {
  const problems: string[] = [];
  const attempt = <T>(path: string, read: () => T): T | null => {
    if (!existsSync(path)) return null;
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push(messageOf(error));
      return null;
    }
  };
  const step = run.rolloutSteps().at(-1);
  const records = step === undefined ? null : attempt(run.rollouts(step), () => readRollouts(run.rollouts(step)));
  const splits = [...new Set([...run.evaluatedSplits("before"), ...run.evaluatedSplits("after")])].sort();
  const evaluation = (split: string, when: "before" | "after"): Evaluation | null =>
    attempt(run.evaluation(split, when), () => readEvaluation(run.evaluation(split, when)));
  return {
    name: basename(resolve(run.dir)),
    config: readFileSync(run.config, "utf8"),
    environment: attempt(run.environment, () => run.readEnvironment()),
    metrics: attempt(run.metrics, () => readMetrics(run.metrics)) ?? [],
    evaluations: splits.map((split) => ({
      split,
      before: evaluation(split, "before"),
      after: evaluation(split, "after"),
    })),
    rollouts: step === undefined || records === null ? null : { step, records },
    problems,
  };
}

/**
 * The report as one HTML page: no script, no network, every text escaped (model output and posted values are data).
 * The policy allows nothing but the page's own style.
 */
export function renderReport(data: ReportData): string {
  const title = `${data.name}: refusion-train report`;
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8">`,
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${REPORT_STYLE}</style></head><body>`,
    header(data),
    data.problems.length === 0
      ? ""
      : `<section class="problems"><h2>Could not be read</h2>${list(data.problems)}</section>`,
    evaluationSection(data.evaluations),
    curves(data.metrics),
    rolloutSection(data.rollouts),
    `<section><h2>Config and environment</h2><details><summary>config.yaml</summary><pre>${escapeHtml(data.config)}</pre></details>`,
    data.environment === null
      ? ""
      : `<details><summary>env.json</summary><pre>${escapeHtml(JSON.stringify(data.environment, undefined, 2))}</pre></details>`,
    `</section></body></html>\n`,
  ].join("\n");
}

function header({ name, environment, metrics }: ReportData): string {
  const last = metrics.at(-1);
  const faults = metrics.reduce((sum, m) => sum + m.faults, 0);
  const facts: string[] = [];
  if (environment !== null) {
    facts.push(environment.command);
    if (environment.provider !== undefined) facts.push(`on ${environment.provider}`);
  }
  facts.push(last === undefined ? "no steps yet" : `${last.step} steps`);
  if (faults > 0) facts.push(`${faults} faulted episodes left out`);
  if (environment !== null)
    facts.push(...Object.entries(environment.seeds).map(([key, value]) => `seed ${key} ${value}`));
  return `<header><h1>${escapeHtml(name)}</h1><p>${facts.map(escapeHtml).join(" · ")}</p></header>`;
}

const SCORES = [
  ["reward", "reward", false],
  ["success_rate", "success", true],
  ["field_accuracy", "field accuracy", false],
] as const;

function evaluationSection(evaluations: ReportData["evaluations"]): string {
  if (evaluations.length === 0) return "";
  const rows = evaluations.flatMap(({ split, before, after }) => {
    const comparison = before === null || after === null ? null : pairable(before, after);
    const counts = [before, after].map((e) =>
      e === null ? "–" : `${e.episodes}${e.faults > 0 ? ` (+${e.faults} faults)` : ""}`,
    );
    return SCORES.map(([key, label, share], i) => {
      const head =
        i > 0 ? "" : `<th rowspan="3">${escapeHtml(split)}</th><td class="num" rowspan="3">${counts.join(" / ")}</td>`;
      const difference = comparison === null ? "–" : escapeHtml(formatDifference(comparison[key], share));
      const cells = [cell(before, key, share), cell(after, key, share), difference].map(
        (text) => `<td class="num">${text}</td>`,
      );
      return `<tr>${head}<th>${label}</th>${cells.join("")}</tr>`;
    });
  });
  return (
    `<section><h2>Before and after</h2><p>Means with 95 % bootstrap intervals; the difference is paired by task, ` +
    `<b>*</b> marks an interval that leaves 0 out.</p><div class="wide"><table><thead><tr><th>split</th><th>episodes</th><th></th>` +
    `<th>before</th><th>after</th><th>difference</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>` +
    `${evaluations.map(formTable).join("")}</section>`
  );
}

function pairable(before: Evaluation, after: Evaluation): ReturnType<typeof compareEvaluations> | null {
  try {
    return compareEvaluations(before, after);
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
}

function formTable({ split, before, after }: ReportData["evaluations"][number]): string {
  const forms = [...new Set([...Object.keys(before?.per_form ?? {}), ...Object.keys(after?.per_form ?? {})])].sort();
  const rows = forms.map((form) => {
    const [a, b] = [before?.per_form[form] ?? null, after?.per_form[form] ?? null];
    const cells = SCORES.map(
      ([key, , share]) => `<td class="num">${cell(a, key, share)}</td><td class="num">${cell(b, key, share)}</td>`,
    );
    return `<tr><th>${escapeHtml(form)}</th><td class="num">${b?.episodes ?? a?.episodes ?? 0}</td>${cells.join("")}</tr>`;
  });
  return (
    `<details><summary>${escapeHtml(split)} by form</summary><div class="wide"><table><thead><tr><th rowspan="2">form</th><th rowspan="2">episodes</th>` +
    `${SCORES.map(([, label]) => `<th colspan="2">${label}</th>`).join("")}</tr><tr>${SCORES.map(() => "<th>before</th><th>after</th>").join("")}` +
    `</tr></thead><tbody>${rows.join("")}</tbody></table></div></details>`
  );
}

function cell(
  scores: Pick<Evaluation, "reward" | "success_rate" | "field_accuracy"> | null,
  key: (typeof SCORES)[number][0],
  share: boolean,
): string {
  return scores === null ? "–" : escapeHtml(formatInterval(scores[key], share));
}

function curves(metrics: readonly StepMetrics[]): string {
  const series = (label: string, value: (m: StepMetrics) => number | null): Series => ({
    label,
    points: metrics.map((m) => ({ x: m.step, y: value(m) })),
  });
  const extras = [...new Set(metrics.flatMap((m) => Object.keys(m.extra ?? {})))].sort();
  const charts = [
    lineChart({
      title: "Reward",
      series: [series("mean", (m) => m.reward), series("standard deviation", (m) => m.reward_std)],
      include: [0, 1],
    }),
    lineChart({
      title: "Success",
      series: [
        series("episodes that succeed", (m) => m.success_rate),
        series("field accuracy", (m) => m.field_accuracy),
      ],
      include: [0, 1],
    }),
    lineChart({ title: "Loss", series: [series("loss", (m) => m.loss)] }),
    lineChart({ title: "KL to the reference", series: [series("KL", (m) => m.kl)], include: [0] }),
    lineChart({
      title: "Probability ratio",
      series: [series("mean", (m) => m.ratio_mean), series("largest", (m) => m.ratio_max)],
      include: [1],
    }),
    lineChart({
      title: "Shares",
      series: [
        series("clipped", (m) => m.clip_fraction),
        series("groups without signal", (m) => m.frac_reward_zero_std),
      ],
      include: [0, 1],
    }),
    lineChart({ title: "Gradient norm", series: [series("norm before clipping", (m) => m.grad_norm)], include: [0] }),
    lineChart({ title: "Learning rate", series: [series("lr", (m) => m.lr)], include: [0] }),
    lineChart({
      title: "Seconds a step",
      series: [
        series("rollout", (m) => m.time.rollout),
        series("score", (m) => m.time.score),
        series("update", (m) => m.time.update),
        series("total", (m) => m.time.total),
      ],
      include: [0],
    }),
    lineChart({
      title: "Rollout tokens a second",
      series: [series("tokens/s", (m) => m.rollout_tokens_per_s)],
      include: [0],
    }),
    metrics.some((m) => m.faults > 0)
      ? lineChart({ title: "Faulted episodes", series: [series("faults", (m) => m.faults)], include: [0] })
      : "",
    ...extras.map((key) => lineChart({ title: key, series: [series(key, (m) => m.extra?.[key] ?? null)] })),
  ];
  return `<section><h2>Training</h2>${metrics.length === 0 ? "<p>No step is recorded yet.</p>" : `<div class="charts">${charts.join("")}</div>`}</section>`;
}

function rolloutSection(rollouts: ReportData["rollouts"]): string {
  if (rollouts === null || rollouts.records.length === 0) return "";
  const faulted = rollouts.records.filter((record) => record.fault !== null);
  const worst = rollouts.records
    .filter((record) => record.fault === null)
    .sort((a, b) => (a.reward ?? 0) - (b.reward ?? 0));
  const shown = [...worst, ...faulted].slice(0, MAX_ROLLOUTS);
  const rest = rollouts.records.length - shown.length;
  return (
    `<section><h2>Rollouts of step ${rollouts.step}, worst first</h2>${shown.map(rolloutCard).join("")}` +
    `${rest > 0 ? `<p>${rest} more are in rollouts/.</p>` : ""}</section>`
  );
}

function rolloutCard(record: RolloutRecord, index: number): string {
  const parts =
    record.parts === null
      ? []
      : Object.entries(record.parts).map(([key, value]) => `${key.replaceAll("_", " ")} ${value.toFixed(2)}`);
  const verdict =
    record.fault !== null ? "fault" : record.success ? "success" : record.accepted ? "accepted" : "not accepted";
  const posted = record.posted.map(
    ([name, value]) => `<tr><th>${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  const truth = Object.entries(record.truth).map(
    ([label, value]) => `<tr><th>${escapeHtml(label)}</th><td>${escapeHtml(fieldText(value))}</td></tr>`,
  );
  const actions = record.actions.map(
    ({ action, fate, detail }) =>
      `<tr><td><code>${escapeHtml(action)}</code></td><td>${escapeHtml(fate)}</td><td>${escapeHtml(detail ?? "")}</td></tr>`,
  );
  const facts = [
    ...parts,
    ...(record.advantage === null ? [] : [`advantage ${record.advantage.toFixed(2)}`]),
    `${record.tokens} tokens`,
  ];
  return (
    `<details class="rollout"${index < 3 ? " open" : ""}><summary><b>${record.reward === null ? "–" : record.reward.toFixed(3)}</b> ` +
    `<span class="${verdict === "success" ? "good" : "bad"}">${verdict}</span> ${escapeHtml(record.form)} <span class="dim">${escapeHtml(record.task_id)}</span></summary>` +
    `<p class="dim">${facts.map(escapeHtml).join(" · ")}${record.fault === null ? "" : ` · ${escapeHtml(record.fault)}`}</p>` +
    `<div class="columns"><div><h3>Prompt</h3><pre>${escapeHtml(record.prompt)}</pre></div><div><h3>Response</h3><pre>${escapeHtml(record.response)}</pre></div></div>` +
    `<h3>Plan</h3>${actions.length === 0 ? "<p>No action.</p>" : `<table>${actions.join("")}</table>`}` +
    `<div class="columns"><div><h3>The server received</h3>${posted.length === 0 ? "<p>Nothing.</p>" : `<table>${posted.join("")}</table>`}</div>` +
    `<div><h3>True values</h3><table>${truth.join("")}</table></div></div></details>`
  );
}

function fieldText(value: unknown): string {
  if (Array.isArray(value)) return value.map(fieldText).join(", ");
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}

function list(items: readonly string[]): string {
  return `<ul>${items.map((item) => `<li>${escapeHtml(item)}</li>`).join("")}</ul>`;
}
