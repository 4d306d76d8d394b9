import type { StepMetrics } from "../../runs/metrics.js";
import { type Band, lineChart, type Series } from "./chart.js";
import type { ReportData } from "./data.js";

/** What the curves are drawn from: a finished run, or one that is under way. */
export type CurveData = Pick<ReportData, "metrics" | "validations"> & {
  readonly rollouts: Pick<ReportData["rollouts"], "intervals">;
};

/** Every curve of a run; those that a run does not have are left out. */
export function curves({ metrics, validations, rollouts }: CurveData): string {
  if (metrics.length === 0) return "<p>No step is recorded yet.</p>";
  const series = (label: string, value: (m: StepMetrics) => number | null, band: readonly Band[] = []): Series => ({
    label,
    points: metrics.map((m) => ({ x: m.step, y: value(m) })),
    band,
  });
  const bands = (key: "reward" | "success"): Band[] =>
    rollouts.intervals.map((row) => ({ x: row.step, low: row[key].low, high: row[key].high }));
  const evaluated = (key: "reward" | "success_rate"): Series[] =>
    [...new Set(validations.map(({ evaluation }) => evaluation.split))].map((split) => {
      const points = validations.filter(({ evaluation }) => evaluation.split === split);
      return {
        label: split,
        points: points.map(({ step, evaluation }) => ({ x: step, y: evaluation[key].mean })),
        whiskers: points.map(({ step, evaluation }) => ({ x: step, ...evaluation[key] })),
      };
    });
  const parts = (["rollout", "score", "update"] as const).filter((part) => metrics.some((m) => m.time[part] > 0));
  // a supervised step is its update: one line says it
  const times = [...(parts.length > 1 ? parts : []), "total" as const];
  const extras = [...new Set(metrics.flatMap((m) => Object.keys(m.extra ?? {})))].sort();
  const charts = [
    lineChart({
      title: "Reward",
      series: [series("rollouts", (m) => m.reward, bands("reward")), ...evaluated("reward")],
    }),
    lineChart({
      title: "Success",
      series: [series("rollouts", (m) => m.success_rate, bands("success")), ...evaluated("success_rate")],
    }),
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
    lineChart({ title: "Loss", series: [series("loss", (m) => m.loss)] }),
    lineChart({ title: "Gradient norm", series: [series("before clipping", (m) => m.grad_norm)], include: [0] }),
    lineChart({
      title: "Seconds a step",
      series: times.map((part) => series(part, (m) => m.time[part])),
      include: [0],
    }),
    lineChart({
      title: "Rollout tokens a second",
      series: [series("tokens/s", (m) => m.rollout_tokens_per_s)],
      include: [0],
    }),
    ...(metrics.some((m) => m.workers !== undefined)
      ? [
          lineChart({
            title: "Workers and jobs",
            series: [
              series("workers", (m) => m.workers?.workers ?? null),
              series("most jobs waiting", (m) => m.workers?.waiting ?? null),
            ],
            include: [0],
          }),
          lineChart({
            title: "Idle share of the workers' time",
            series: [series("idle", (m) => m.workers?.idle ?? null)],
            include: [0, 1],
          }),
        ]
      : []),
    lineChart({ title: "Learning rate", series: [series("lr", (m) => m.lr)], include: [0] }),
    lineChart({
      title: "Spread of rewards",
      series: [series("standard deviation", (m) => m.reward_std)],
      include: [0, 1],
    }),
    metrics.some((m) => m.faults > 0)
      ? lineChart({ title: "Faulted episodes", series: [series("faults", (m) => m.faults)], include: [0] })
      : "",
  ];
  const more = extras.map((key) => lineChart({ title: key, series: [series(key, (m) => m.extra?.[key] ?? null)] }));
  const legend = [
    ...(rollouts.intervals.length > 0 ? ["Bands: 95 % bootstrap intervals over a step's groups."] : []),
    ...(validations.length > 0 ? ["Whiskers: 95 % bootstrap intervals of evaluations."] : []),
    "Point at a chart, or use the arrow keys in it, for values.",
  ];
  return (
    `<p class="dim">${legend.join(" ")}</p>` +
    `<div class="charts">${charts.join("")}</div>` +
    (more.length === 0
      ? ""
      : `<details><summary>${more.length} more</summary><div class="charts">${more.join("")}</div></details>`)
  );
}
