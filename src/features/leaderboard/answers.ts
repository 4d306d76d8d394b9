import { groupBy } from "../../core/group-by.js";
import { type Interval, passAtK } from "../../core/statistics.js";
import { type Evaluation, formatInterval, type TaskScore } from "../../runs/evaluation.js";
import { crossedInterval } from "./crossed-interval.js";

/** Diversity of an objective's answers to tasks with several right answers: each measure over seeds and tasks. */
export type AnswersRow = { readonly [measure in keyof Diversity]: Interval } & {
  /** Samples per task, and right answers per task: the minimum over tasks. */
  readonly samples: number;
  readonly of: number;
};

/** Columns of the table of answers; shares are at most 1. */
const MEASURES = [
  { measure: "distinct", head: "distinct", isShare: false },
  { measure: "coverage", head: "coverage", isShare: true },
  { measure: "kl", head: "KL to uniform (nats)", isShare: false },
  { measure: "tries1", head: "1 try", isShare: true },
  { measure: "tries4", head: "4 tries", isShare: true },
] as const satisfies readonly { readonly measure: keyof Diversity; readonly head: string; readonly isShare: boolean }[];

/**
 * Measures the diversity of an objective's answers.
 * @returns undefined if the environment does not distinguish right answers.
 */
export function answersOf(runs: readonly Evaluation[]): AnswersRow | undefined {
  const byRun = runs.map(({ per_task }) => diversityOf(per_task));
  const tasks = [...(byRun[0]?.keys() ?? [])].filter((task) => byRun.every((run) => run.has(task)));
  if (tasks.length === 0) return undefined;
  const scores = (runs[0] as Evaluation).per_task;
  const rowsOf = (task: string): TaskScore[] => scores.filter(({ task_id }) => task_id === task);
  const forms = tasks.map((task) => rowsOf(task)[0]?.form ?? "");
  const over = MEASURES.map(({ measure, isShare }) => {
    const values = byRun.map((run) => tasks.map((task) => (run.get(task) as Diversity)[measure]));
    return [measure, crossedInterval(values, forms, { range: [0, isShare ? 1 : Infinity] })] as const;
  });
  return {
    ...(Object.fromEntries(over) as Record<keyof Diversity, Interval>),
    samples: Math.min(...tasks.map((task) => rowsOf(task).length)),
    of: Math.min(...tasks.map((task) => rowsOf(task)[0]?.answer?.of ?? 0)),
  };
}

/** Writes the table of answers as Markdown. @param rows by objective, in the table's order. */
export function formatAnswers(split: string, rows: readonly (readonly [string, AnswersRow])[]): string {
  const [first] = rows;
  if (first === undefined) return "";
  const { samples, of } = first[1];
  const head = ["objective", ...MEASURES.map((column) => column.head)];
  const lines = rows.map(([objective, row]) => [
    objective,
    ...MEASURES.map(({ measure, isShare }) => formatInterval(row[measure], isShare)),
  ]);
  const uniform = uniformDistinct(of, samples).toFixed(1);
  return [
    `Right answers on ${split}: ${of} a task, ${samples} samples of each task (all answers alike would show ${uniform}); tries: another right answer where the commonest is taken.`,
    markdownTable(head, lines),
  ].join("\n\n");
}

/**
 * Diversity of several samples of one task with several right answers, to be averaged over tasks.
 */
interface Diversity {
  /** Number of distinct right answers among the samples. */
  readonly distinct: number;
  /** Share of all right answers. */
  readonly coverage: number;
  /**
   * KL(p || uniform) of the sampled right answers, in nats: log N minus their entropy, with Miller and Madow's
   * correction (m - 1) / (2 n) for m distinct answers in n samples. Without a right answer it is log N.
   */
  readonly kl: number;
  /**
   * Probability that 1 or 4 tries contain a right answer other than the policy's most frequent one (draws without
   * replacement from the samples).
   */
  readonly tries1: number;
  readonly tries4: number;
}

/** Computes the diversity of every task with named answers, by the task's id. */
export function diversityOf(scores: readonly TaskScore[]): Map<string, Diversity> {
  const named = scores.flatMap(({ task_id, answer }) => (answer === undefined ? [] : [{ task_id, answer }]));
  const byTask = groupBy(named, ({ task_id }) => task_id);
  return new Map([...byTask].map(([task, samples]) => [task, ofTask(samples.map(({ answer }) => answer))]));
}

function ofTask(samples: readonly NonNullable<TaskScore["answer"]>[]): Diversity {
  const of = samples[0]?.of ?? 0;
  const answers = samples.flatMap(({ is }) => is ?? []);
  const right = answers.length;
  const counts = [...groupBy(answers, (answer) => answer).values()].map(({ length }) => length);
  const entropy = -counts.reduce((sum, count) => sum + (count / right) * Math.log(count / right), 0);
  const corrected = right === 0 ? 0 : entropy + (counts.length - 1) / (2 * right);
  const usable = right - Math.max(0, ...counts);
  const tries = (k: number): number => passAtK(samples.length, usable, Math.min(k, samples.length));
  return {
    distinct: counts.length,
    coverage: counts.length / of,
    kl: Math.max(0, Math.log(of) - corrected),
    tries1: tries(1),
    tries4: tries(4),
  };
}

/** Expected number of distinct answers, of `of`, in n samples of a uniform policy. */
export function uniformDistinct(of: number, n: number): number {
  return of * (1 - (1 - 1 / of) ** n);
}

/** Formats a Markdown table; rows have as many cells as the head. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
