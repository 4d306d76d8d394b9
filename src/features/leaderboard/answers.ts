import { crossedInterval, type Interval } from "../../core/statistics.js";
import { type Diversity, diversityOf, uniformDistinct } from "../../runs/diversity.js";
import { type Evaluation, formatInterval, type TaskScore } from "../../runs/evaluation.js";
import { markdownTable } from "./markdown.js";

/** Holds what the runs of an objective make of tasks with several right answers: each measure over seeds and tasks. */
export type AnswersRow = { readonly [measure in keyof Diversity]: Interval } & {
  /** Samples of a task, and right answers of one: the smallest of any task. */
  readonly samples: number;
  readonly of: number;
};

/** @returns undefined where the environment does not tell right answers apart. */
export function answersOf(runs: readonly Evaluation[]): AnswersRow | undefined {
  const byRun = runs.map(({ per_task }) => diversityOf(per_task));
  const tasks = [...(byRun[0]?.keys() ?? [])].filter((task) => byRun.every((run) => run.has(task)));
  if (tasks.length === 0) return undefined;
  const scores = (runs[0] as Evaluation).per_task;
  const rowsOf = (task: string): TaskScore[] => scores.filter(({ task_id }) => task_id === task);
  const forms = tasks.map((task) => rowsOf(task)[0]?.form ?? "");
  const over = (measure: keyof Diversity, most = Infinity): Interval =>
    crossedInterval(
      byRun.map((run) => tasks.map((task) => (run.get(task) as Diversity)[measure])),
      forms,
      { range: [0, most] },
    );
  return {
    distinct: over("distinct"),
    coverage: over("coverage", 1),
    kl: over("kl"),
    tries1: over("tries1", 1),
    tries4: over("tries4", 1),
    samples: Math.min(...tasks.map((task) => rowsOf(task).length)),
    of: Math.min(...tasks.map((task) => rowsOf(task)[0]?.answer?.of ?? 0)),
  };
}

/** @param rows by objective, in the table's order. */
export function formatAnswers(split: string, rows: readonly (readonly [string, AnswersRow])[]): string {
  const [first] = rows;
  if (first === undefined) return "";
  const { samples, of } = first[1];
  const head = ["objective", "distinct", "coverage", "KL to uniform (nats)", "1 try", "4 tries"];
  const lines = rows.map(([objective, row]) => [
    objective,
    formatInterval(row.distinct),
    formatInterval(row.coverage, true),
    formatInterval(row.kl),
    formatInterval(row.tries1, true),
    formatInterval(row.tries4, true),
  ]);
  const uniform = uniformDistinct(of, samples).toFixed(1);
  return [
    `Right answers on ${split}: ${of} a task, ${samples} samples of each task (all answers alike would show ${uniform}); tries: another right answer where the commonest is taken.`,
    markdownTable(head, lines),
  ].join("\n\n");
}
