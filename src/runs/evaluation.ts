import { z } from "zod";
import { fromOutside } from "../core/boundary.js";
import { fail } from "../core/errors.js";
import { readJson, writeAtomic } from "../core/files.js";
import { groupBy } from "../core/group-by.js";
import { checked } from "../core/problems.js";
import { bootstrapMean, bootstrapPairedDifference, type Interval, mean, passAtK } from "../core/statistics.js";

/** Name of a metric or a form. Another evaluation is asked for it, where `toString` would be found in any object. */
const named = z.string().refine((name) => !(name in Object.prototype), "is a name that every object has");

const interval = z.strictObject({ mean: z.number(), low: z.number(), high: z.number() });
const formScore = z.strictObject({
  episodes: z.int(),
  reward: interval,
  success_rate: interval,
  /** The environment's own measures by name. */
  metrics: z.record(named, interval),
});
const taskScore = z.strictObject({
  task_id: z.string(),
  form: z.string(),
  reward: z.number(),
  success: z.boolean(),
  /** The environment's own measures and counts, by name. */
  metrics: z.record(named, z.number()),
  counts: z.record(named, z.number()).optional(),
});

const leftOut = z.strictObject({ task_id: z.string(), fault: z.string() });

export const evaluationSchema = z.strictObject({
  split: z.string(),
  policy: z.string(),
  /** Scored episodes: those without a fault. */
  episodes: z.int(),
  faults: z.int(),
  /** Faulted episodes, with their causes. */
  left_out: z.array(leftOut).optional(),
  reward: interval,
  success_rate: interval,
  metrics: z.record(named, interval),
  per_form: z.record(named, formScore),
  seed: z.int(),
  split_hash: z.string(),
  temperature: z.number().nullable(),
  /** Set for several attempts per task: pass@1, pass@2 ..., over the tasks without a faulted attempt. */
  pass_at: z.strictObject({ attempts: z.int(), tasks: z.int(), rates: z.array(interval) }).optional(),
  /** SHA-256 over the judge (null: unknown here), and over the played tasks; absent in older files. */
  checksum: z.strictObject({ judge: z.string().nullable(), tasks: z.string() }).optional(),
  per_task: z.array(taskScore),
});

/** eval/<split>.json: every score is a mean with its 95 % bootstrap interval. */
export type Evaluation = z.infer<typeof evaluationSchema>;
export type FormScore = z.infer<typeof formScore>;
export type TaskScore = z.infer<typeof taskScore>;

/** Result of one episode of an evaluation. A fault of the environment says nothing about the policy and is left out. */
export interface EpisodeScore extends TaskScore {
  readonly fault?: string | undefined;
}

/**
 * Computes the means and intervals of an evaluation, over all tasks and by form. Intervals treat tasks as independent
 * draws; they do not extend to forms outside the split.
 * @param attempts at each task: with more than one, a task is one draw, the mean of its attempts.
 * @throws UserError where every episode faulted, which leaves nothing to score.
 */
export function summarize(
  episodes: readonly EpisodeScore[],
  about: Pick<Evaluation, "split" | "policy" | "seed" | "split_hash" | "temperature" | "checksum">,
  attempts = 1,
): Evaluation {
  const counted = episodes.filter((episode) => episode.fault === undefined);
  if (counted.length === 0) {
    const faults = [...new Set(episodes.map((episode) => episode.fault))];
    fail(
      `No episode of the ${about.split} split could be scored (${episodes.length} faults: ${faults.slice(0, 3).join("; ")}).`,
      { hint: "run `refusion-train doctor` to check the browser and the site" },
    );
  }
  const forms = [...new Set(counted.map((episode) => episode.form))].sort();
  const over = attempts === 1 ? undefined : taskOf;
  const passed = attempts === 1 ? undefined : passAt(counted, attempts, about.seed);
  const leftOut = episodes.flatMap(({ task_id, fault }) => (fault === undefined ? [] : [{ task_id, fault }]));
  return {
    split: about.split,
    policy: about.policy,
    episodes: counted.length,
    faults: leftOut.length,
    ...(leftOut.length === 0 ? {} : { left_out: leftOut }),
    ...scores(counted, about.seed, over),
    per_form: Object.fromEntries(
      forms.map((form) => {
        const rows = counted.filter((episode) => episode.form === form);
        return [form, { episodes: rows.length, ...scores(rows, about.seed, over) }];
      }),
    ),
    seed: about.seed,
    split_hash: about.split_hash,
    temperature: about.temperature,
    ...(passed === undefined ? {} : { pass_at: passed }),
    ...(about.checksum === undefined ? {} : { checksum: about.checksum }),
    per_task: counted.map(({ fault: _, ...score }) => score),
  };
}

const taskOf = ({ task_id }: TaskScore): string => task_id;

/** Returns pass@1 to pass@attempts with intervals over tasks; undefined where no task has all its attempts. */
function passAt(rows: readonly TaskScore[], attempts: number, seed: number): Evaluation["pass_at"] {
  const tasks = [...groupBy(rows, taskOf).values()].filter(({ length }) => length === attempts);
  if (tasks.length === 0) return undefined;
  const successes = tasks.map((episodes) => episodes.filter(({ success }) => success).length);
  const rates = Array.from({ length: attempts }, (_, i) =>
    bootstrapMean(
      successes.map((c) => passAtK(attempts, c, i + 1)),
      { seed },
    ),
  );
  return { attempts, tasks: tasks.length, rates };
}

/** @param draw returns the draw of a row; absent: each row is one. */
function scores(rows: readonly TaskScore[], seed: number, draw?: (row: TaskScore) => string): Scored {
  const draws = draw === undefined ? rows.map((row) => [row]) : [...groupBy(rows, draw).values()];
  const over = (value: (row: TaskScore) => number): Interval =>
    bootstrapMean(
      draws.map((draw) => mean(draw.map(value))),
      { seed },
    );
  return {
    reward: over((row) => row.reward),
    success_rate: over((row) => Number(row.success)),
    metrics: {
      ...Object.fromEntries(metricNames(rows).map((name) => [name, over((row) => row.metrics[name] as number)])),
      nonzero_rate: over(nonzero),
    },
  };
}

/** 1 for an episode that earned anything; its mean is the share of such episodes. */
const nonzero = ({ reward }: TaskScore): number => Number(reward > 0);

/** Returns the measures that all rows have. */
const metricNames = (rows: readonly TaskScore[]): string[] =>
  Object.keys(rows[0]?.metrics ?? {}).filter((name) => rows.every((row) => row.metrics[name] !== undefined));

/** `after - before` over the tasks that both scored. */
export interface Comparison extends Scored {
  readonly split: string;
  readonly pairs: number;
  /** Episodes that only one of the two has (faults, different numbers of episodes). */
  readonly unpaired: number;
  /** Reasons why the two are less comparable. */
  readonly warnings: readonly string[];
}

/**
 * Compares two evaluations by pairs of the same task (the k-th episode of a task with the k-th).
 * @throws UserError where the splits differ or no task is in both.
 */
export function compareEvaluations(before: Evaluation, after: Evaluation): Comparison {
  if (before.split !== after.split) fail(`Cannot compare the ${before.split} split with the ${after.split} split.`);
  const first = byEpisode(before.per_task);
  const pairs: [TaskScore, TaskScore][] = [];
  for (const [key, b] of byEpisode(after.per_task)) {
    const a = first.get(key);
    if (a !== undefined) pairs.push([a, b]);
  }
  if (pairs.length === 0)
    fail(`The two evaluations of the ${before.split} split have no task in common.`, {
      hint: "evaluate both with the same site, split and evaluation.seed",
    });
  const warnings = (["split_hash", "seed", "temperature"] as const).flatMap((key) =>
    before[key] === after[key] ? [] : [`${key} differs: ${before[key]} and ${after[key]}`],
  );
  for (const key of ["judge", "tasks"] as const) {
    const [a, b] = [before, after].map(({ checksum }) => checksum?.[key]);
    if (a !== b) warnings.push(`${key} differs: ${short(a)} and ${short(b)}`);
    else if (a === null) warnings.push(`${key} is not known: it stands on another machine`);
  }
  const difference = (value: (row: TaskScore) => number): Interval =>
    bootstrapPairedDifference(
      pairs.map(([a]) => value(a)),
      pairs.map(([, b]) => value(b)),
      { seed: after.seed },
    );
  return {
    split: after.split,
    pairs: pairs.length,
    unpaired: before.per_task.length + after.per_task.length - 2 * pairs.length,
    reward: difference((row) => row.reward),
    success_rate: difference((row) => Number(row.success)),
    metrics: {
      ...Object.fromEntries(
        metricNames(pairs.flat()).map((name) => [name, difference((row) => row.metrics[name] as number)]),
      ),
      nonzero_rate: difference(nonzero),
    },
    warnings,
  };
}

/** Keys scores by task and by the count of its earlier episodes. */
export function byEpisode(rows: readonly TaskScore[]): Map<string, TaskScore> {
  const seen = new Map<string, number>();
  const out = new Map<string, TaskScore>();
  for (const row of rows) {
    const nth = seen.get(row.task_id) ?? 0;
    seen.set(row.task_id, nth + 1);
    out.set(JSON.stringify([row.task_id, nth]), row);
  }
  return out;
}

/** Writes an evaluation as JSON. */
export async function writeEvaluation(path: string, evaluation: Evaluation): Promise<void> {
  await writeAtomic(path, `${JSON.stringify(evaluation, undefined, 2)}\n`);
}

/** Reads an evaluation. @throws UserError where the file is missing or not an evaluation. */
export function readEvaluation(path: string): Evaluation {
  const hint = "restore it from a copy, or evaluate again: refusion-eval --run DIR --split NAME";
  return fromOutside(path, hint, () => checked(evaluationSchema, readJson(path), `${path} is no evaluation`));
}

/** Columns of a table: reward, success, and every measure that occurs. */
type Scored = Pick<FormScore, "reward" | "success_rate" | "metrics">;

const namesOf = (rows: readonly Scored[]): string[] => [...new Set(rows.flatMap((row) => Object.keys(row.metrics)))];
const heading = (name: string): string => name.replaceAll("_", " ");

function cells(row: Scored, names: readonly string[], format: typeof formatInterval): string[] {
  const of = (name: string): string => (row.metrics[name] === undefined ? "" : format(row.metrics[name]));
  return [format(row.reward), format(row.success_rate, true), ...names.map(of)];
}

/** Formats evaluations as a table, one row each. */
export function formatEvaluations(
  rows: readonly { readonly label: string; readonly evaluation: Evaluation }[],
): string {
  const names = namesOf(rows.map(({ evaluation }) => evaluation));
  const checksums = rows.some(({ evaluation }) => evaluation.checksum !== undefined) ? ["checksum"] : [];
  const table = [
    ["", "split", "episodes", "faults", "reward", "success", ...names.map(heading), ...checksums],
    ...rows.map(({ label, evaluation: e }) => [
      label,
      e.split,
      String(e.episodes),
      String(e.faults),
      ...cells(e, names, formatInterval),
      ...checksums.map(() => formatChecksum(e)),
    ]),
  ];
  return formatTable(table, 2);
}

const short = (hash: string | null | undefined): string => hash?.slice(0, 8) ?? (hash === null ? "unknown" : "none");

/** Formats a checksum as `1a2b3c4d-5e6f7a8b`, of judge and tasks: evaluations with equal ones are comparable. */
export const formatChecksum = ({ checksum }: Evaluation): string =>
  checksum === undefined ? "none" : `${short(checksum.judge)}-${short(checksum.tasks)}`;

/** Formats `pass@1 25.0 % [..]`, one per line; empty where tasks were attempted once. */
export function formatPassAt({ split, pass_at: passed }: Evaluation): string {
  if (passed === undefined) return "";
  const { attempts, tasks, rates } = passed;
  const rows = rates.map((rate, i) => [`pass@${i + 1}`, formatInterval(rate, true)]);
  return `${split}: ${attempts} attempts at each of ${tasks} tasks\n${formatTable(rows)}`;
}

/** Lists the episodes left out because the environment failed, by cause; empty where there are none. */
export function formatLeftOut({ split, left_out: leftOut = [] }: Evaluation): string {
  return [...groupBy(leftOut, ({ fault }) => fault)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([fault, [first, ...others]]) => {
      const more = others.length === 0 ? "" : ` and ${others.length} more`;
      return `${split}: left out, the environment failed: ${fault} (${first?.task_id}${more})`;
    })
    .join("\n");
}

/** Formats one evaluation by form, worst form first, then all of them, with sums of the environment's counts. */
export function formatForms(evaluation: Evaluation): string {
  const forms = Object.entries(evaluation.per_form).sort(([, a], [, b]) => a.reward.mean - b.reward.mean);
  const names = namesOf([evaluation]);
  const counted = [...new Set(evaluation.per_task.flatMap((row) => Object.keys(row.counts ?? {})))];
  const line = (name: string, score: FormScore, rows: readonly TaskScore[]): string[] => [
    name,
    String(score.episodes),
    ...counted.map((count) => String(rows.reduce((total, row) => total + (row.counts?.[count] ?? 0), 0))),
    ...cells(score, names, formatInterval),
  ];
  return formatTable([
    ["form", "episodes", ...counted.map(heading), "reward", "success", ...names.map(heading)],
    ...forms.map(([form, score]) =>
      line(
        form,
        score,
        evaluation.per_task.filter((row) => row.form === form),
      ),
    ),
    line("all", evaluation, evaluation.per_task),
  ]);
}

/**
 * Least pairs for a significant difference: with five, all in one direction, a sign test gives p = 2 / 2^5 = 6 %, with
 * six 3 %; the bootstrap's interval of fewer excludes 0 far too easily.
 */
export const LEAST_PAIRS = 6;

/** Formats comparisons: differences with intervals; `*` marks an interval without 0, of at least six pairs. */
export function formatComparisons(
  rows: readonly { readonly label: string; readonly comparison: Comparison }[],
): string {
  const names = namesOf(rows.map(({ comparison }) => comparison));
  const table = formatTable(
    [
      ["difference", "split", "pairs", "reward", "success", ...names.map(heading)],
      ...rows.map(({ label, comparison: c }) => [
        label,
        c.split,
        String(c.pairs),
        ...cells(c, names, (difference, share) => formatDifference(difference, share, c.pairs)),
      ]),
    ],
    2,
  );
  return [table, ...rows.flatMap(({ label, comparison }) => doubts(`${label}, `, comparison))].join("\n");
}

/** Lists why a comparison says less than it seems to. */
function doubts(label: string, { split, pairs, warnings, unpaired }: Comparison): string[] {
  const few = pairs < LEAST_PAIRS ? [`no star, ${pairs} pairs are too few (${LEAST_PAIRS})`] : [];
  const alone = unpaired > 0 ? [`${unpaired} episodes have no partner and are left out`] : [];
  return [...few, ...warnings, ...alone].map((doubt) => `${label}${split}: ${doubt}`);
}

/** Pairs a run's evaluations by split; either may be missing. */
function bySplit(before: readonly Evaluation[], after: readonly Evaluation[]) {
  return [...new Set([...before, ...after].map(({ split }) => split))].map((split) => {
    const [a, b] = [before, after].map((all) => all.find((evaluation) => evaluation.split === split));
    return { split, a, b, change: a === undefined || b === undefined ? undefined : compareEvaluations(a, b) };
  });
}

/**
 * Writes a run's outcome, a line a split: how many forms are whole (accepted, with every field right), and the reward,
 * both with what they were before. Without `before` it is that of an evaluation.
 */
export function formatOutcome(before: readonly Evaluation[], after: readonly Evaluation[]): string {
  const lines = bySplit(before, after).map(({ split, a, b, change }) => {
    const last = (b ?? a) as Evaluation;
    const solved = ({ per_task: rows }: Evaluation): number => rows.filter(({ success }) => success).length;
    // environments without fields have no forms
    const what = last.metrics.field_accuracy === undefined ? "solved" : "forms whole";
    const now = [`${solved(last)} of ${last.per_task.length} ${what}`, `Reward ${last.reward.mean.toFixed(3)}`];
    if (a === undefined || change === undefined) return `${split}: ${now.join(". ")}.`;
    const certainty = ({ low, high }: Interval): string =>
      (low > 0 || high < 0) && change.pairs >= LEAST_PAIRS ? "certain" : "not certain";
    const was = [
      `${solved(a)} before; ${certainty(change.success_rate)}`,
      `${a.reward.mean.toFixed(3)} before; ${certainty(change.reward)}`,
    ];
    return `${split}: ${now.map((text, i) => `${text}, ${was[i]}`).join(". ")}.`;
  });
  return lines.join("\n");
}

/** Formats a run's result: a table of every split before and after, then its outcome in a sentence. */
export function formatResult(before: readonly Evaluation[], after: readonly Evaluation[]): string {
  const splits = bySplit(before, after);
  const rows = splits.flatMap(({ split, a, b, change }) => {
    const names = namesOf([a, b].flatMap((one) => one ?? []));
    const counts = [a, b].map((one) => one && `${one.episodes}${one.faults > 0 ? ` + ${one.faults} faults` : ""}`);
    const columns = [
      [...counts, change && `${change.pairs} pairs`],
      ...[a, b].map((one) => one && cells(one, names, formatInterval)),
      change && cells(change, names, (difference, share) => formatDifference(difference, share, change.pairs)),
    ] as const;
    return [
      [split, ...columns[0].map((cell) => cell ?? "")],
      ...["reward", "success", ...names.map(heading)].map((name, i) => [
        `  ${name}`,
        ...columns.slice(1).map((column) => column?.[i] ?? ""),
      ]),
    ];
  });
  const table = formatTable([["episodes of", "before", "after", "after - before"], ...rows]);
  return [
    table,
    ...splits.flatMap(({ change }) => (change === undefined ? [] : doubts("", change))),
    `\n${formatOutcome(before, after)}`,
  ].join("\n");
}

/** Formats an interval as `0.412 [0.380, 0.441]`, or in per cent. */
export function formatInterval({ mean, low, high }: Interval, asPercent = false): string {
  return asPercent
    ? `${(100 * mean).toFixed(1)} % [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`
    : `${mean.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`;
}

/** Formats `+0.051 [+0.020, +0.083] *`; percentages in points. @param pairs: a star needs {@link LEAST_PAIRS}. */
export function formatDifference(
  { mean, low, high }: Interval,
  asPercent = false,
  pairs: number = Number.POSITIVE_INFINITY,
): string {
  const signed = (value: number): string => {
    const text = asPercent ? (100 * value).toFixed(1) : value.toFixed(3);
    return Number(text) > 0 ? `+${text}` : Number(text) === 0 ? text.replace("-", "") : text;
  };
  return `${signed(mean)}${asPercent ? " pp" : ""} [${signed(low)}, ${signed(high)}]${pairs >= LEAST_PAIRS && (low > 0 || high < 0) ? " *" : ""}`;
}

/** Longest line of a table, in characters. */
const WIDEST = 100;

/**
 * Aligns columns: the first and those of texts to the left, numbers to the right. Columns that do not fit in a line
 * follow in a table below.
 * @param keys columns that each such table begins with.
 */
export function formatTable(rows: readonly (readonly string[])[], keys = 1): string {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, c) => Math.max(...rows.map((row) => (row[c] ?? "").length)));
  const numeric = widths.map((_, c) => c > 0 && rows.slice(1).every((row) => /^[-+\d]|^$/.test(row[c] ?? "")));
  const first = widths.slice(0, keys).map((_, c) => c);
  const tables = [first];
  for (let c = keys; c < columns; c++) {
    const wider = [...(tables.at(-1) ?? []), c];
    const fits = wider.reduce((sum, i) => sum + (widths[i] ?? 0) + 2, -2) <= WIDEST || wider.length === keys + 1;
    tables.splice(fits ? -1 : tables.length, 1, fits ? wider : [...first, c]);
  }
  const cell = (row: readonly string[], c: number): string =>
    numeric[c] ? (row[c] ?? "").padStart(widths[c] ?? 0) : (row[c] ?? "").padEnd(widths[c] ?? 0);
  return tables
    .map((table) =>
      rows
        .map((row) =>
          table
            .map((c) => cell(row, c))
            .join("  ")
            .trimEnd(),
        )
        .join("\n"),
    )
    .join("\n\n");
}
