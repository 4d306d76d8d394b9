import type { TaskScore } from "./evaluation.js";

/**
 * Holds what several samples of one task say about the freedom that its right answers leave. All are numbers of one
 * task, to be averaged over tasks.
 */
export interface Diversity {
  /** Right answers among the samples, each counted once. */
  readonly distinct: number;
  /** Their share of the right answers that there are. */
  readonly coverage: number;
  /**
   * KL(p || uniform) [nats] of the right answers that were given: log N less the entropy of what was seen, with Miller and
   * Madow's correction (m - 1) / (2 n) for m answers seen in n samples. Without a right answer log N: nothing is covered.
   */
  readonly kl: number;
  /**
   * Somebody else has taken the policy's commonest answer: the chance that 1 or 4 tries hold another right one (draws
   * without replacement from the samples).
   */
  readonly tries1: number;
  readonly tries4: number;
}

/** The diversity of every task whose samples name their answers, by the task's id. */
export function diversityOf(scores: readonly TaskScore[]): Map<string, Diversity> {
  const tasks = new Map<string, NonNullable<TaskScore["answer"]>[]>();
  for (const { task_id, answer } of scores) {
    if (answer !== undefined) tasks.set(task_id, [...(tasks.get(task_id) ?? []), answer]);
  }
  return new Map([...tasks].map(([task, samples]) => [task, ofTask(samples)]));
}

function ofTask(samples: readonly NonNullable<TaskScore["answer"]>[]): Diversity {
  const of = samples[0]?.of ?? 0;
  const seen = new Map<string, number>();
  for (const { is } of samples) if (is !== null) seen.set(is, (seen.get(is) ?? 0) + 1);
  const counts = [...seen.values()];
  const right = counts.reduce((sum, count) => sum + count, 0);
  const entropy = -counts.reduce((sum, count) => sum + (count / right) * Math.log(count / right), 0);
  const corrected = right === 0 ? 0 : entropy + (counts.length - 1) / (2 * right);
  const usable = right - Math.max(0, ...counts);
  const tries = (k: number): number => 1 - allOf(samples.length - usable, samples.length, k);
  return {
    distinct: counts.length,
    coverage: counts.length / of,
    kl: Math.max(0, Math.log(of) - corrected),
    tries1: tries(1),
    tries4: tries(4),
  };
}

/** The chance that k draws without replacement from n are all among `some` of them. */
function allOf(some: number, n: number, k: number): number {
  let chance = 1;
  for (let i = 0; i < Math.min(k, n); i++) chance *= Math.max(0, some - i) / (n - i);
  return chance;
}

/** Measures how many of `of` answers a policy that gives each alike is expected to show in n samples. */
export function uniformDistinct(of: number, n: number): number {
  return of * (1 - (1 - 1 / of) ** n);
}
