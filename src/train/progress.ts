import type { StepMetrics } from "./metrics.js";

/** What progress writes to: stderr, or a buffer in tests. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface ProgressOptions {
  /** Steps of the whole run. */
  readonly total: number;
  readonly quiet?: boolean;
  readonly stream?: ProgressStream;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const CLEAR_LINE = "\r\u001b[2K";

/**
 * Progress on stderr: one line that is rewritten on a terminal, one line a step elsewhere (logs, CI).
 * Colour only on a terminal, and not with NO_COLOR (https://no-color.org) or TERM=dumb.
 */
export class Progress {
  private readonly stream: ProgressStream;
  private readonly live: boolean;
  private readonly colour: boolean;
  private readonly seconds: number[] = [];
  private open = false;

  constructor(private readonly options: ProgressOptions) {
    const env = options.env ?? process.env;
    this.stream = options.stream ?? process.stderr;
    this.live = this.stream.isTTY === true && env.TERM !== "dumb";
    this.colour = this.live && (env.NO_COLOR ?? "") === "";
  }

  /** What is going on inside a step, as `step 3/20  rollouts 12/16`: terminals only. */
  phase(text: string): void {
    if (this.live && !this.options.quiet) this.rewrite(text);
  }

  /** A step is done. */
  step(metrics: StepMetrics): void {
    if (this.options.quiet) return;
    this.seconds.push(metrics.time.total);
    const left = (this.options.total - metrics.step) * median(this.seconds.slice(-9));
    const text = `${formatStep(metrics, this.options.total)}${left > 0 ? `  eta ${formatDuration(left)}` : ""}`;
    if (this.live) this.rewrite(text);
    else this.stream.write(`${text}\n`);
  }

  /** A line that stays: what was found, what comes next. */
  note(text: string): void {
    if (this.options.quiet) return;
    this.end();
    this.stream.write(`${this.colour ? `\u001b[2m${text}\u001b[22m` : text}\n`);
  }

  /** Leaves the last line standing. */
  end(): void {
    if (this.open) this.stream.write("\n");
    this.open = false;
  }

  private rewrite(text: string): void {
    // one column less: a line that fills the width wraps on some terminals and then cannot be cleared
    const width = Math.max(20, (this.stream.columns ?? 80) - 1);
    const line = text.length > width ? `${text.slice(0, width - 1)}…` : text;
    this.stream.write(
      `${CLEAR_LINE}${this.colour ? line.replace(/^step +\S+/, (head) => `\u001b[1m${head}\u001b[22m`) : line}`,
    );
    this.open = true;
  }
}

/** One step in one line; quantities that the step does not have are left out. */
export function formatStep(metrics: StepMetrics, total: number): string {
  const width = String(total).length;
  const parts = [`step ${String(metrics.step).padStart(width)}/${total}`];
  const add = (label: string, value: number | null, format: (v: number) => string): void => {
    if (value !== null) parts.push(`${label} ${format(value)}`);
  };
  if (metrics.reward !== null) {
    add(
      "reward",
      metrics.reward,
      (v) => `${v.toFixed(3)}${metrics.reward_std === null ? "" : ` ±${metrics.reward_std.toFixed(2)}`}`,
    );
    add("success", metrics.success_rate, percent);
  }
  add("loss", metrics.loss, (v) => v.toPrecision(3));
  add("kl", metrics.kl, (v) => v.toPrecision(2));
  add("grad", metrics.grad_norm, (v) => v.toPrecision(2));
  if (metrics.faults > 0) parts.push(`faults ${metrics.faults}`);
  parts.push(formatDuration(metrics.time.total));
  return parts.join("  ");
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

/** `4.1 s`, `1:05`, `2:03:04`. */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n: number): string => String(n).padStart(2, "0");
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** A median, because the first step also pays for loading. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
