import type { StepMetrics } from "../runs/metrics.js";

/** Formats one step on one line; missing quantities are left out. */
export function formatStep(metrics: StepMetrics, total: number): string {
  const width = String(total).length;
  const parts = [`step ${String(metrics.step).padStart(width)}/${total}`];
  const add = (label: string, value: number | null | undefined, format: (v: number) => string): void => {
    if (typeof value === "number") parts.push(`${label} ${format(value)}`);
  };
  const reward = rewardText(metrics);
  if (reward !== "") parts.push(`reward ${reward}`);
  add("success", metrics.success_rate, percent);
  add("loss", metrics.loss, (v) => v.toPrecision(3));
  add("kl", metrics.kl, (v) => v.toPrecision(2));
  add("grad", metrics.grad_norm, (v) => v.toPrecision(2));
  if (metrics.faults > 0) parts.push(`faults ${metrics.faults}`);
  parts.push(formatDuration(metrics.time.total));
  if (reward === "" && metrics.tokens > 0) parts.push(`${(metrics.tokens / metrics.time.total).toFixed(0)} tokens/s`);
  return parts.join("  ");
}

/** Formats a step's reward as `0.500 ±0.10`; empty where it has none. */
export function rewardText({ reward, reward_std: std }: StepMetrics): string {
  if (typeof reward !== "number") return "";
  return `${reward.toFixed(3)}${typeof std === "number" ? ` ±${std.toFixed(2)}` : ""}`;
}

/** Formats a share as a whole percentage. */
export const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

/** Formats seconds as `4.1 s`, `1:05`, `2:03:04`. */
export function formatDuration(seconds: number): string {
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n: number): string => String(n).padStart(2, "0");
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** Estimates the seconds of `left` more steps from the median of the latest: the first also includes loading. */
export function timeLeft(seconds: readonly number[], remaining: number): number {
  const sorted = seconds.slice(-9).sort((a, b) => a - b);
  return remaining * (sorted[Math.floor(sorted.length / 2)] ?? 0);
}

/** Formats an episode that has just ended as `garden/plant-order 0.75`. */
export const episodeText = (form: string, { reward }: { readonly reward: number | null }): string =>
  `${form} ${reward === null ? "fault" : reward.toFixed(2)}`;
