import { formatMetrics, type StepMetrics } from "../runs/metrics.js";
import { type LiveState, liveLines } from "./live-view.js";
import { formatDuration, formatStep, timeLeft } from "./progress-text.js";
import type { Phase, WatchedRun, Watcher } from "./watcher.js";

/** Output of progress: stderr, or a buffer in tests. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

export interface ProgressOptions {
  readonly quiet?: boolean;
  /** Prints one JSON object per line instead of text, even on a terminal. */
  readonly json?: boolean;
  readonly stream?: ProgressStream;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Signal whose abort prints a message: the view then starts again below it. */
  readonly signal?: AbortSignal;
}

/**
 * Progress on stderr: a view redrawn in place on a terminal, one line per step elsewhere (logs, CI), JSON lines with
 * `json`. Colour only on a terminal, and not with NO_COLOR (https://no-color.org) or TERM=dumb.
 */
export class Progress implements Watcher {
  private readonly stream: ProgressStream;
  private readonly live: boolean;
  private readonly colour: boolean;
  private run: WatchedRun | undefined;
  private readonly history: StepMetrics[] = [];
  private current: Phase | undefined;
  /** Lengths of the lines on the terminal; the cursor is at the end of the last one. */
  private drawn: number[] = [];
  private readonly interrupted = (): void => {
    this.drawn = [];
  };

  constructor(private readonly options: ProgressOptions) {
    const env = options.env ?? process.env;
    this.stream = options.stream ?? process.stderr;
    this.live = this.stream.isTTY === true && env.TERM !== "dumb" && options.json !== true && options.quiet !== true;
    this.colour = this.live && (env.NO_COLOR ?? "") === "";
    options.signal?.addEventListener("abort", this.interrupted);
  }

  begin(run: WatchedRun): void {
    this.run = run;
  }

  /** Shows the current activity, on terminals only. */
  phase(phase: Phase): void {
    this.current = phase;
    if (this.live) this.draw();
  }

  /** Shows a finished step. */
  step(metrics: StepMetrics): void {
    if (this.options.quiet) return;
    this.history.push(metrics);
    if (this.options.json) {
      this.stream.write(`{"event":"step",${formatMetrics(metrics).slice(1)}\n`);
    } else if (this.live) {
      this.draw();
    } else {
      const total = this.run?.steps ?? metrics.step;
      const eta = this.eta();
      this.stream.write(
        `${formatStep(metrics, total)}${eta === undefined || eta === 0 ? "" : `  eta ${formatDuration(eta)}`}\n`,
      );
    }
  }

  /** Prints a permanent line, as a finding or the next step. */
  note(text: string): void {
    if (this.options.quiet) return;
    if (this.options.json) {
      this.stream.write(`${JSON.stringify({ event: "note", text })}\n`);
      return;
    }
    // the note replaces the view, which moves below it
    this.stream.write(`${this.erase()}${this.colour ? `\u001b[2m${text}\u001b[22m` : text}\n`);
    this.drawn = [];
    if (this.live && this.current !== undefined) this.draw();
  }

  /** Leaves the last view on the terminal, without the current activity. */
  end(): void {
    this.current = undefined;
    // one signal may outlive many runs
    this.options.signal?.removeEventListener("abort", this.interrupted);
    if (this.drawn.length === 0) return;
    this.draw();
    this.stream.write("\n");
    this.drawn = [];
  }

  private eta(): number | undefined {
    const last = this.history.at(-1);
    if (last === undefined || this.run === undefined) return undefined;
    return timeLeft(
      this.history.map((m) => m.time.total),
      this.run.steps - last.step,
    );
  }

  private draw(): void {
    // one column less: a line of full width wraps on some terminals and then cannot be cleared
    const width = Math.max(20, (this.stream.columns ?? 80) - 1);
    const state: LiveState = { run: this.run, history: this.history, phase: this.current, eta: this.eta() };
    // a view taller than the terminal could not be redrawn: the head and the current activity matter most
    const rows = Math.max(1, (this.stream.rows ?? 24) - 1);
    const plain = fit(liveLines(state, width, false), rows);
    const shown = this.colour ? fit(liveLines(state, width, true), rows) : plain;
    this.stream.write(`${this.erase()}${shown.join("\n")}`);
    this.drawn = plain.map((line) => line.length);
  }

  /** Moves to the start of the view and clears it; lines that a narrowed terminal wrapped count as several. */
  private erase(): string {
    if (this.drawn.length === 0) return "";
    const columns = this.stream.columns ?? 80;
    const rows = this.drawn.reduce((n, length) => n + Math.max(1, Math.ceil(length / columns)), 0);
    return `\r${rows > 1 ? `\u001b[${rows - 1}A` : ""}\u001b[J`;
  }
}

const fit = (lines: string[], rows: number): string[] =>
  lines.length <= rows ? lines : [...lines.slice(0, rows - 1), ...lines.slice(-1)];
