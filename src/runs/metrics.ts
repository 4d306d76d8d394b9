import { appendFileSync, copyFileSync, existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { isPlainObject } from "../config/overrides.js";
import { fromOutside } from "../core/boundary.js";
import { fail, messageOf } from "../core/errors.js";
import { writeAtomic } from "../core/files.js";

/** Next step for a damaged file of a run. */
export const RESTORE = "restore it from a copy, or run again";

/** A quantity that a step may lack; an invalid value in a damaged file counts as lacking. */
const quantity = z.number().nullable().catch(null);
/** A quantity of a step that plays or reads episodes: steps of other kinds have no such key. */
const ofEpisodes = quantity.optional();
const seconds = z.number().catch(0);

const stepQuantities = z.object({
  step: z.number(),
  reward: ofEpisodes,
  reward_std: ofEpisodes,
  success_rate: ofEpisodes,
  frac_reward_zero_std: ofEpisodes,
  faults: z.number().catch(0),
  loss: quantity,
  kl: ofEpisodes,
  ratio_mean: ofEpisodes,
  ratio_max: ofEpisodes,
  clip_fraction: ofEpisodes,
  grad_norm: quantity,
  lr: z.number().catch(0),
  /** Tokens trained on in the step. */
  tokens: z.number().catch(0),
  rollout_tokens_per_s: ofEpisodes,
});
const stepTimes = z.object({ rollout: seconds, score: seconds, update: seconds, total: seconds });

const stepWorkers = z.object({
  workers: z.number().catch(0),
  /** The most jobs waiting at once. */
  waiting: z.number().catch(0),
  /** Idle share of the workers' time; null where no worker reported it. */
  idle: quantity,
});
export type StepWorkers = Readonly<z.infer<typeof stepWorkers>>;

/**
 * One line of metrics.jsonl (docs/runs.md): the part that all kinds of training share; keys of episodes are absent in
 * supervised training. Null: the step has no such quantity, as the loss of a step without a group with signal. Rates
 * are shares in 0..1, times are seconds.
 */
export interface StepMetrics extends Readonly<z.infer<typeof stepQuantities>> {
  /** Metrics of the objective, the environment and the sampler; plain numbers. */
  readonly extra?: Readonly<Record<string, number | null>>;
  readonly time: Readonly<z.infer<typeof stepTimes>>;
  /** Figures of the workers in the step; absent in one process. Like times, they differ between equal runs. */
  readonly workers?: StepWorkers;
}

/** A line of training from rollouts: with every key. */
export type RolloutMetrics = StepMetrics & Required<Pick<StepMetrics, (typeof STEP_KEYS)[number]>>;

/** The keys of a line, in order. */
export const STEP_KEYS = stepQuantities.keyof().options;
export const TIME_KEYS = stepTimes.keyof().options;

/**
 * Formats the line of one step, keys in a fixed order (extras sorted, beside the others): equal runs give equal bytes.
 * @throws Error where a number is not finite, which JSON would turn into null.
 */
export function formatMetrics(metrics: StepMetrics): string {
  const line: Record<string, unknown> = {};
  for (const key of STEP_KEYS) {
    const value = metrics[key];
    if (value !== undefined) line[key] = finite(metrics.step, key, value);
  }
  for (const key of Object.keys(metrics.extra ?? {}).sort()) {
    if (STEP_KEYS.some((name) => name === key) || key === "time" || key === "workers")
      throw new Error(`metrics: the objective's "${key}" is a key of every step already`);
    line[key] = finite(metrics.step, key, metrics.extra?.[key] ?? null);
  }
  line.time = Object.fromEntries(TIME_KEYS.map((key) => [key, finite(metrics.step, `time.${key}`, metrics.time[key])]));
  if (metrics.workers !== undefined) line.workers = metrics.workers;
  return JSON.stringify(line);
}

function finite(step: number, key: string, value: number | null): number | null {
  if (value === null || Number.isFinite(value)) return value;
  throw new Error(
    `metrics of step ${step}: ${key} is ${value}; a step with such a number must be skipped and counted, not written`,
  );
}

/** Appends to metrics.jsonl, one line per step, in ascending order. */
export class MetricsWriter {
  private constructor(
    private readonly path: string,
    private last: number,
  ) {}

  /**
   * Opens the file. On a resume `keepThrough` is the checkpoint's step: later lines (and a partial one) are cut off,
   * since those steps run again. Earlier lines should be complete; where some are missing, the run continues without
   * them, and a file with unreadable ones is kept as metrics.jsonl.damaged.
   * @param warn receives a message about missing lines.
   */
  static async open(
    path: string,
    keepThrough = 0,
    warn: (text: string) => void = () => undefined,
  ): Promise<MetricsWriter> {
    const { kept, unreadable } = existsSync(path) ? keptMetrics(path, keepThrough) : { kept: [], unreadable: false };
    if (kept.length < keepThrough) {
      const read = new Set(kept.map(({ step }) => step));
      const missing = Array.from({ length: keepThrough }, (_, i) => i + 1).filter((step) => !read.has(step));
      const aside = `${path}.damaged`;
      if (unreadable) copyFileSync(path, aside);
      warn(
        `${path} lacks ${missing.length === 1 ? "step" : "steps"} ${ranges(missing)}, which the checkpoint has behind it: ` +
          `the run goes on, with a gap in its curves${unreadable ? `; the file as it was is kept as ${aside}` : ""}`,
      );
    }
    await writeAtomic(path, kept.map((metrics) => `${formatMetrics(metrics)}\n`).join(""));
    return new MetricsWriter(path, kept.at(-1)?.step ?? 0);
  }

  append(metrics: StepMetrics): void {
    if (metrics.step <= this.last) throw new Error(`metrics of step ${metrics.step} after step ${this.last}`);
    const line = formatMetrics(metrics);
    try {
      appendFileSync(this.path, `${line}\n`);
    } catch (error) {
      fail(`Cannot write ${this.path}: ${messageOf(error)}`, {
        hint: "free some space, then resume the run",
        cause: error,
      });
    }
    this.last = metrics.step;
  }
}

/**
 * Reads metrics.jsonl. A last line without its newline was cut by a kill and is left out.
 * @throws UserError that names the first malformed line.
 */
export function readMetrics(path: string): StepMetrics[] {
  return fromOutside(path, RESTORE, () =>
    readJsonLines(path).map(({ value, line }) => parseMetrics(value, `${path}, line ${line}`)),
  );
}

function parseMetrics(value: unknown, where: string): StepMetrics {
  const parsed = stepQuantities.loose().safeParse(value);
  if (!parsed.success) fail(`${where}: no step metrics`);
  const { time, workers, ...row } = parsed.data;
  const standard = new Set<string>(STEP_KEYS);
  const further = Object.entries(row).filter(([key]) => !standard.has(key));
  return {
    ...stepQuantities.parse(row),
    ...(further.length > 0 ? { extra: Object.fromEntries(further.map(([key, of]) => [key, quantity.parse(of)])) } : {}),
    time: stepTimes.parse(isPlainObject(time) ? time : {}),
    ...(isPlainObject(workers) ? { workers: stepWorkers.parse(workers) } : {}),
  };
}

/** Reads the lines of steps 1 to `through`, ascending, from a possibly damaged file; later content is ignored. */
function keptMetrics(path: string, through: number): { kept: StepMetrics[]; unreadable: boolean } {
  const kept: StepMetrics[] = [];
  let unreadable = false;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const last = kept.at(-1)?.step ?? 0;
    if (last >= through) break;
    if (line === "") continue;
    try {
      const metrics = parseMetrics(JSON.parse(line), path);
      formatMetrics(metrics);
      if (metrics.step > last && metrics.step <= through) kept.push(metrics);
    } catch {
      unreadable = true;
    }
  }
  return { kept, unreadable };
}

/** Formats steps as `3, 8 to 10`. */
function ranges(steps: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const step of steps) {
    const last = runs.at(-1);
    if (last?.[1] === step - 1) last[1] = step;
    else runs.push([step, step]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`)).join(", ");
}

/**
 * Reads the objects of a JSON-lines file with their line numbers; an unfinished last line is left out.
 * @param options.whole makes such a line an error, for files that are written at once.
 */
export function readJsonLines(
  path: string,
  options: { readonly whole?: boolean } = {},
): { value: unknown; line: number }[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    fail(`Cannot read ${path}: ${messageOf(error)}`, { hint: RESTORE, cause: error });
  }
  const lines = text.split("\n");
  if (lines.pop() !== "" && options.whole === true)
    fail(`${path} ends within its line ${lines.length + 1}: it was cut off.`, { hint: "Restore it from a copy." });
  return lines.map((line, i) => {
    try {
      return { value: JSON.parse(line) as unknown, line: i + 1 };
    } catch (error) {
      return fail(`${path}, line ${i + 1} is not valid JSON: ${messageOf(error)}`, { hint: RESTORE, cause: error });
    }
  });
}
