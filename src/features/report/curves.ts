import { html } from "hono/html";
import type { StepMetrics } from "../../runs/metrics.js";
import { lineChart, type Series } from "./chart.js";
import type { ReportData } from "./data.js";
import type { Html } from "./html.js";

/** Data of the curves, of a finished or a running run. */
export type CurveData = Pick<ReportData, "metrics" | "validations"> & {
  readonly rollouts: Pick<ReportData["rollouts"], "intervals">;
};

type Value = (m: StepMetrics) => number | null | undefined;

/** Charts of one value a line: title, lines, and values that are always on the y axis. */
const CHARTS: readonly (readonly [
  title: string,
  lines: Readonly<Record<string, Value>>,
  include?: readonly number[],
])[] = [
  ["KL to the reference", { KL: (m) => m.kl }, [0]],
  ["Probability ratio", { mean: (m) => m.ratio_mean, largest: (m) => m.ratio_max }, [1]],
  ["Shares", { clipped: (m) => m.clip_fraction, "groups without signal": (m) => m.frac_reward_zero_std }, [0, 1]],
  ["Loss", { loss: (m) => m.loss }],
  ["Gradient norm", { "before clipping": (m) => m.grad_norm }, [0]],
  // a supervised step consists of its update: the total is enough
  [
    "Seconds a step",
    {
      rollout: (m) => (m.time.rollout > 0 ? m.time.rollout : null),
      score: (m) => (m.time.score > 0 ? m.time.score : null),
      update: (m) => (m.time.rollout > 0 || m.time.score > 0 ? m.time.update : null),
      total: (m) => m.time.total,
    },
    [0],
  ],
  ["Rollout tokens a second", { "tokens/s": (m) => m.rollout_tokens_per_s }, [0]],
  ["Workers and jobs", { workers: (m) => m.workers?.workers, "most jobs waiting": (m) => m.workers?.waiting }, [0]],
  ["Idle share of the workers' time", { idle: (m) => m.workers?.idle }, [0, 1]],
  ["Learning rate", { lr: (m) => m.lr }, [0]],
  ["Spread of rewards", { "standard deviation": (m) => m.reward_std }, [0, 1]],
];

const pointsOf = (metrics: readonly StepMetrics[], value: Value): Series["points"] =>
  metrics.map((m) => ({ x: m.step, y: value(m) ?? null }));

/** Draws the curves of several runs, a line each; runs of one colour belong together. */
export function comparedCurves(
  runs: readonly { readonly label: string; readonly colour: number; readonly metrics: readonly StepMetrics[] }[],
): Html {
  const scores: typeof CHARTS = [
    ["Reward of rollouts", { "": (m) => m.reward }],
    ["Success of rollouts", { "": (m) => m.success_rate }],
  ];
  const flat: string[] = [];
  const charts = [...scores, ...CHARTS].flatMap(([title, lines, include]) =>
    Object.entries(lines).map(([line, value]) => {
      const series = runs.map(({ label, colour, metrics }) => ({ label, colour, points: pointsOf(metrics, value) }));
      const name = Object.keys(lines).length > 1 ? `${title}: ${line}` : title;
      const points = series.flatMap((one) => one.points);
      if (!isFlat(points)) return lineChart(name, series, include);
      flat.push(`${name} ${flatValue(points)}`);
      return html``;
    }),
  );
  return html`<p class="dim">${READING}</p><div class="charts">${charts}</div>${flatNote(flat)}`;
}

const READING =
  "Bold lines are means over neighbouring steps, thin ones the steps. Point at a chart, or use the arrow keys in it, for values; drag to enlarge, double click for all.";

/** Smallest change of a line that is drawn, as a share of its values. */
const FLAT = 1e-3;

/** Tells whether a line stays the same from the first step to the last: it says no more than a number. */
function isFlat(points: Series["points"]): boolean {
  const known = points.flatMap(({ y }) => (typeof y === "number" && Number.isFinite(y) ? [y] : []));
  const [least, most] = [Math.min(...known), Math.max(...known)];
  return known.length > 1 && most - least <= FLAT * Math.max(Math.abs(least), Math.abs(most));
}

const flatValue = (points: Series["points"]): number => Number(points.find(({ y }) => y !== null)?.y?.toPrecision(3));

const flatNote = (flat: readonly string[]): Html =>
  flat.length === 0 ? html`` : html`<p class="dim">The same in all steps: ${flat.join("; ")}.</p>`;

/** Draws a run's curves. Lines without data are left out, and those that stay the same are named with their value. */
export function curves({ metrics, validations, rollouts }: CurveData): Html {
  if (metrics.length === 0) return html`<p>No step is recorded yet.</p>`;
  /** Makes the series of a score: rollouts at every step, and evaluations in between. */
  const scores = (of: "reward" | "success", rate: "reward" | "success_rate"): Series[] => {
    const intervals = new Map(rollouts.intervals.map((row) => [row.step, row[of]]));
    const splits = [...new Set(validations.map(({ evaluation }) => evaluation.split))];
    return [
      { label: "rollouts", points: metrics.map((m) => ({ ...intervals.get(m.step), x: m.step, y: m[rate] ?? null })) },
      ...splits.map((split) => ({
        label: split,
        whiskers: true,
        points: validations
          .filter(({ evaluation }) => evaluation.split === split)
          .map(({ step, evaluation }) => ({ ...evaluation[rate], x: step, y: evaluation[rate].mean })),
      })),
    ];
  };
  const extras = [...new Set(metrics.flatMap((m) => Object.keys(m.extra ?? {})))].sort();
  const flat: string[] = [];
  const one = ([title, lines, include]: (typeof CHARTS)[number]): Html => {
    const series = Object.entries(lines).map(([label, value]) => ({ label, points: pointsOf(metrics, value) }));
    const isDrawn = ({ label, points }: Series): boolean => {
      if (!isFlat(points)) return true;
      flat.push(`${title}${series.length > 1 ? ` (${label})` : ""} ${flatValue(points)}`);
      return false;
    };
    return lineChart(title, series.filter(isDrawn), include);
  };
  const charts = [
    lineChart("Reward", scores("reward", "reward")),
    lineChart("Success", scores("success", "success_rate")),
    ...CHARTS.map(one),
    metrics.some((m) => m.faults > 0) && one(["Faulted episodes", { faults: (m) => m.faults }, [0]]),
  ];
  const more = extras
    .map((key) => one([key, { [key]: (m) => m.extra?.[key] ?? null }]))
    .filter((chart) => String(chart) !== "");
  const legend = [
    ...(rollouts.intervals.length > 0 ? ["Bands: 95 % bootstrap intervals over a step's groups."] : []),
    ...(validations.length > 0 ? ["Whiskers: 95 % bootstrap intervals of evaluations."] : []),
    ...(metrics.some((m) => m.reward !== null) ? ["Each step plays other tasks; an evaluation always the same."] : []),
    READING,
  ];
  return html`<p class="dim">${legend.join(" ")}</p><div class="charts">${charts}</div>
${flatNote(flat)}
${more.length > 0 && html`<details><summary>${more.length} more</summary><div class="charts">${more}</div></details>`}`;
}
