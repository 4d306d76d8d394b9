import { html } from "hono/html";
import type { StepMetrics } from "../../runs/metrics.js";
import { lineChart, type Series } from "./chart.js";
import type { ReportData } from "./data.js";
import type { Html } from "./html.js";

/** Data of the curves, of a finished or a running run. */
export type CurveData = Pick<ReportData, "metrics" | "validations"> & {
  readonly rollouts: Pick<ReportData["rollouts"], "intervals">;
};

/** Draws a run's curves; those without data are left out. */
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
  const parts = (["rollout", "score", "update"] as const).filter((part) => metrics.some((m) => m.time[part] > 0));
  // a supervised step consists of its update: the total is enough
  const times = [...(parts.length > 1 ? parts : []), "total" as const];
  const extras = [...new Set(metrics.flatMap((m) => Object.keys(m.extra ?? {})))].sort();
  type Value = (m: StepMetrics) => number | null | undefined;
  const one = (title: string, values: Readonly<Record<string, Value>>, include: readonly number[] = []): Html => {
    const lines = Object.entries(values).map(([label, value]): Series => {
      return { label, points: metrics.map((m) => ({ x: m.step, y: value(m) ?? null })) };
    });
    return lineChart(title, lines, include);
  };
  const charts = [
    lineChart("Reward", scores("reward", "reward")),
    lineChart("Success", scores("success", "success_rate")),
    one("KL to the reference", { KL: (m) => m.kl }, [0]),
    one("Probability ratio", { mean: (m) => m.ratio_mean, largest: (m) => m.ratio_max }, [1]),
    one("Shares", { clipped: (m) => m.clip_fraction, "groups without signal": (m) => m.frac_reward_zero_std }, [0, 1]),
    one("Loss", { loss: (m) => m.loss }),
    one("Gradient norm", { "before clipping": (m) => m.grad_norm }, [0]),
    one("Seconds a step", Object.fromEntries(times.map((part) => [part, (m: StepMetrics) => m.time[part]])), [0]),
    one("Rollout tokens a second", { "tokens/s": (m) => m.rollout_tokens_per_s }, [0]),
    one(
      "Workers and jobs",
      { workers: (m) => m.workers?.workers ?? null, "most jobs waiting": (m) => m.workers?.waiting ?? null },
      [0],
    ),
    one("Idle share of the workers' time", { idle: (m) => m.workers?.idle ?? null }, [0, 1]),
    one("Learning rate", { lr: (m) => m.lr }, [0]),
    one("Spread of rewards", { "standard deviation": (m) => m.reward_std }, [0, 1]),
    metrics.some((m) => m.faults > 0) && one("Faulted episodes", { faults: (m) => m.faults }, [0]),
  ];
  const more = extras.map((key) => one(key, { [key]: (m) => m.extra?.[key] ?? null }));
  const legend = [
    ...(rollouts.intervals.length > 0 ? ["Bands: 95 % bootstrap intervals over a step's groups."] : []),
    ...(validations.length > 0 ? ["Whiskers: 95 % bootstrap intervals of evaluations."] : []),
    "Point at a chart, or use the arrow keys in it, for values; drag to enlarge, double click for all.",
  ];
  return html`<p class="dim">${legend.join(" ")}</p><div class="charts">${charts}</div>
${more.length > 0 && html`<details><summary>${more.length} more</summary><div class="charts">${more}</div></details>`}`;
}
