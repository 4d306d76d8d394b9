import { printable } from "../core/shown.js";
import type { StepMetrics } from "../runs/metrics.js";
import { formatDuration, percent, rewardText } from "./progress-text.js";
import type { Phase, WatchedRun } from "./watcher.js";

/** Content of the live view. */
export interface LiveState {
  readonly run: WatchedRun | undefined;
  /** Steps of this process, oldest first. */
  readonly history: readonly StepMetrics[];
  readonly phase: Phase | undefined;
  /** Estimated seconds of the remaining steps; undefined before the first step. */
  readonly eta: number | undefined;
}

type Style = "plain" | "bold" | "dim" | "accent";
type Segment = readonly [text: string, style: Style];

const CODES: Readonly<Record<Style, string>> = { plain: "", bold: "\u001b[1m", dim: "\u001b[2m", accent: "\u001b[36m" };
const RESET = "\u001b[0m";
const BLOCKS = "▁▂▃▄▅▆▇█";
/** Number of latest steps in a sparkline. */
const WINDOW = 32;

/** Renders the view as lines of a terminal, none longer than `width` columns. */
export function liveLines(state: LiveState, width: number, colour: boolean): string[] {
  const last = state.history.at(-1);
  const lines: Segment[][] = [];
  if (state.run !== undefined) lines.push(header(state.run, last?.step ?? state.run.done, state.eta));
  if (last !== undefined) {
    const recent = state.history.slice(-WINDOW);
    const row = (label: string, value: string, of: (m: StepMetrics) => number | null | undefined): void => {
      if ((of(last) ?? null) === null) return;
      lines.push([
        [label.padEnd(9), "dim"],
        [value.padEnd(15), "bold"],
        [sparkline(recent.map(of)), "accent"],
      ]);
    };
    row("reward", rewardText(last), (m) => m.reward);
    row("success", percent(last.success_rate ?? 0), (m) => m.success_rate);
    if (rewardText(last) === "") row("loss", (last.loss ?? 0).toPrecision(3), (m) => m.loss);
    row("kl", (last.kl ?? 0).toPrecision(2), (m) => m.kl);
    lines.push(times(last));
  }
  if (state.phase !== undefined) {
    lines.push([
      ["now".padEnd(9), "dim"],
      [phaseText(state.phase), "plain"],
    ]);
  }
  return lines.map((segments) => paint(segments, width, colour));
}

function header(run: WatchedRun, step: number, eta: number | undefined): Segment[] {
  const filled = Math.round((16 * step) / Math.max(1, run.steps));
  const remaining = eta === undefined || step >= run.steps ? "" : `  eta ${formatDuration(eta)}`;
  return [
    [printable(run.name), "bold"],
    [`  step ${step}/${run.steps}  `, "plain"],
    ["█".repeat(filled), "accent"],
    ["░".repeat(16 - filled), "dim"],
    [remaining, "plain"],
  ];
}

function times({ time, faults }: StepMetrics): Segment[] {
  const phases = (["rollout", "score", "update"] as const).filter((key) => time[key] > 0);
  const parts = phases.map((key) => `${key} ${formatDuration(time[key])}`).join("  ");
  return [
    ["time".padEnd(9), "dim"],
    [formatDuration(time.total).padEnd(15), "bold"],
    [`${parts}${faults > 0 ? `  faults ${faults}` : ""}`, "plain"],
  ];
}

/** Formats a phase as `episodes 12/64  garden/plant-order 0.75`. */
export function phaseText({ doing, done, all, now }: Phase): string {
  const count = done === undefined || all === undefined ? "" : ` ${done}/${all}`;
  // names of forms and tasks come from sites
  return printable(`${doing}${count}${now === undefined ? "" : `  ${now}`}`);
}

/** Draws values as blocks between their minimum and maximum; a missing value is a gap. */
export function sparkline(values: readonly (number | null | undefined)[]): string {
  const finite = values.filter((v): v is number => Number.isFinite(v));
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  return values
    .map((v) => {
      if (!Number.isFinite(v)) return " ";
      const share = high === low ? 0.5 : ((v as number) - low) / (high - low);
      return BLOCKS[Math.min(BLOCKS.length - 1, Math.floor(share * BLOCKS.length))];
    })
    .join("");
}

function paint(segments: readonly Segment[], width: number, colour: boolean): string {
  let free = width;
  let out = "";
  for (const [text, style] of segments) {
    const cut = text.length > free ? `${text.slice(0, Math.max(0, free - 1))}…` : text;
    if (free <= 0) break;
    if (cut === "") continue;
    free -= cut.length;
    out += colour && style !== "plain" ? `${CODES[style]}${cut}${RESET}` : cut;
  }
  return out.trimEnd();
}
