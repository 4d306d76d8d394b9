import { crossedInterval, type Interval, mean } from "../../core/statistics.js";
import { type Evaluation, formatDifference, formatInterval, type TaskScore } from "../../runs/evaluation.js";
import { type AnswersRow, answersOf, formatAnswers, markdownTable } from "./answers.js";
import { entriesOf, type Leaderboard } from "./plan.js";
import { entryKey, gridsOf, type Results, type RunResult } from "./play.js";

/** One objective on one family. */
export interface Row {
  readonly objective: string;
  /** Chosen on the tuning seeds; and whether it is the grid's end, so that a better one may lie beyond. */
  readonly learningRate: number;
  readonly atGridEnd: boolean;
  readonly seeds: readonly number[];
  /** Seeds whose run ends with a mean reward more than FELL_APART below the start's, on the first split. */
  readonly fellApart: number;
  /** By split: means over seeds, forms and records, and what was gained on the same episodes. */
  readonly splits: Readonly<Record<string, SplitScore>>;
  /** Nats a response; over seeds. */
  readonly kl: Interval;
  /** CPU minutes of training a run; null where every run was resumed. */
  readonly cpuMinutes: number | null;
}

interface SplitScore {
  readonly reward: Interval;
  readonly success: Interval;
  readonly gain: Interval;
}

/** Two objectives of which one is ahead, on the first split. */
export interface Ordering {
  readonly ahead: string;
  readonly behind: string;
  readonly difference: Interval;
}

export interface FamilyTable {
  readonly family: string;
  readonly start: Readonly<Record<string, Pick<SplitScore, "reward" | "success">>>;
  readonly rows: readonly Row[];
  /** Pairs whose interval leaves 0 out, and how many pairs there are. */
  readonly orderings: readonly Ordering[];
  readonly pairs: number;
  /** Of tasks with several right answers, on the first split, by objective. */
  readonly answers: readonly (readonly [string, AnswersRow])[];
  /** Runs that are missing: `objective seed 3`, or its grid. */
  readonly missing: readonly string[];
}

/** Reward. */
const FELL_APART = 0.1;

type Measure = (row: TaskScore) => number;
const reward: Measure = (row) => row.reward;
const success: Measure = (row) => Number(row.success);

/** A leaderboard's tables from the runs that there are. Objectives are in the order of their reward on the first split. */
export function tablesOf(board: Leaderboard, results: Results): FamilyTable[] {
  const grids = gridsOf(results.runs);
  return Object.keys(board.families).map((family) => {
    const entries = entriesOf(board).filter((entry) => entry.family === family);
    const start = results.start.get(family) ?? [];
    const made = new Map<string, Map<number, RunResult>>();
    const missing: string[] = [];
    for (const entry of entries) {
      const own = results.runs.filter(({ run }) => entryKey(run) === entryKey(entry));
      const rate = results.rates.get(entryKey(entry));
      if (rate === undefined) missing.push(`${entry.objective}: its grid of learning rates`);
      const runs = new Map<number, RunResult>();
      for (const seed of board.seeds) {
        const result = own.find(({ run }) => !run.tuning && run.seed === seed)?.result;
        if (result !== undefined) runs.set(seed, result);
        else if (rate !== undefined) missing.push(`${entry.objective}: seed ${seed}`);
      }
      if (runs.size > 0) made.set(entry.objective, runs);
    }
    const episodes = (split: string): Episodes =>
      Episodes.of([...(start.length === 0 ? [] : [start]), ...evaluationsOf(made)], split);
    const rewardOf = (evaluations: readonly Evaluation[]): number =>
      evaluations.find(({ split }) => split === board.splits[0])?.reward.mean ?? Number.NaN;
    const bySplit = new Map(board.splits.map((split) => [split, episodes(split)]));
    const rows = [...made].map(([objective, runs]): Row => {
      const rate = results.rates.get(entryKey({ family, objective })) as number;
      const grid = grids.get(entryKey({ family, objective })) ?? [];
      const cpu = [...runs.values()].flatMap(({ cpu_s }) => cpu_s ?? []);
      return {
        objective,
        learningRate: rate,
        atGridEnd: rate === Math.min(...grid) || rate === Math.max(...grid),
        seeds: [...runs.keys()],
        fellApart: [...runs.values()].filter(({ evaluations }) => rewardOf(evaluations) < rewardOf(start) - FELL_APART)
          .length,
        splits: Object.fromEntries([...bySplit].map(([split, of]) => [split, of.score([...runs.values()], start)])),
        kl: crossedInterval(
          [...runs.values()].map(({ kl }) => [kl]),
          [""],
          { range: [0, Infinity] },
        ),
        cpuMinutes: cpu.length === 0 ? null : mean(cpu) / 60,
      };
    });
    const [first] = board.splits as [Leaderboard["splits"][number]];
    const of = (row: Row): number => row.splits[first]?.reward.mean ?? 0;
    rows.sort((a, b) => of(b) - of(a));
    const shared = bySplit.get(first) as Episodes;
    const orderings = rows.flatMap(({ objective: ahead }, i) =>
      rows.slice(i + 1).flatMap(({ objective: behind }): Ordering[] => {
        const [a, b] = [ahead, behind].map((name) => [...(made.get(name)?.values() ?? [])]) as [
          RunResult[],
          RunResult[],
        ];
        // a single run does not show how much runs differ
        if (a.length < 2 || b.length < 2) return [];
        const difference = shared.difference(a, b);
        return difference.low > 0 ? [{ ahead, behind, difference }] : [];
      }),
    );
    const onFirst = (evaluations: readonly Evaluation[]): Evaluation[] => evaluations.filter((e) => e.split === first);
    const answers = [
      ["(start)", onFirst(start)] as const,
      ...rows.map(
        ({ objective }) =>
          [objective, [...(made.get(objective)?.values() ?? [])].flatMap((run) => onFirst(run.evaluations))] as const,
      ),
    ].flatMap(([objective, evaluations]): (readonly [string, AnswersRow])[] => {
      const row = answersOf(evaluations);
      return row === undefined ? [] : [[objective, row]];
    });
    return {
      family,
      start:
        start.length === 0
          ? {}
          : Object.fromEntries([...bySplit].map(([split, of]) => [split, of.score([{ evaluations: [...start] }])])),
      rows,
      orderings,
      pairs: (rows.length * (rows.length - 1)) / 2,
      answers,
      missing,
    };
  });
}

const evaluationsOf = (made: ReadonlyMap<string, ReadonlyMap<number, RunResult>>): (readonly Evaluation[])[] =>
  [...made.values()].flatMap((runs) => [...runs.values()].map(({ evaluations }) => evaluations));

/** The episodes of a split that every evaluation scored: a fault of the environment in one leaves the episode out of all. */
class Episodes {
  private constructor(
    private readonly split: string,
    private readonly keys: readonly string[],
    private readonly forms: readonly string[],
  ) {}

  static of(all: readonly (readonly Evaluation[])[], split: string): Episodes {
    const scored = all.flatMap((evaluations) => evaluations.filter((e) => e.split === split)).map(byEpisode);
    const [first = new Map<string, TaskScore>()] = scored;
    const keys = [...first.keys()].filter((key) => scored.every((rows) => rows.has(key)));
    return new Episodes(
      split,
      keys,
      keys.map((key) => (first.get(key) as TaskScore).form),
    );
  }

  private values(runs: readonly Pick<RunResult, "evaluations">[], measure: Measure): number[][] {
    return runs.map(({ evaluations }) => {
      const rows = byEpisode(evaluations.find((e) => e.split === this.split) as Evaluation);
      return this.keys.map((key) => measure(rows.get(key) as TaskScore));
    });
  }

  score(runs: readonly Pick<RunResult, "evaluations">[], start: readonly Evaluation[] = []): SplitScore {
    const before = start.length === 0 ? [] : (this.values([{ evaluations: [...start] }], reward)[0] as number[]);
    const gains = this.values(runs, reward).map((row) => row.map((value, i) => value - (before[i] ?? value)));
    return {
      reward: crossedInterval(this.values(runs, reward), this.forms),
      success: crossedInterval(this.values(runs, success), this.forms, { range: [0, 1] }),
      gain: crossedInterval(gains, this.forms),
    };
  }

  difference(a: readonly RunResult[], b: readonly RunResult[]): Interval {
    return crossedInterval(this.values(a, reward), this.forms, { minus: this.values(b, reward) });
  }
}

/** Scores by task and how often it came before. */
function byEpisode({ per_task }: Evaluation): Map<string, TaskScore> {
  const seen = new Map<string, number>();
  return new Map(
    per_task.map((row) => {
      const nth = seen.get(row.task_id) ?? 0;
      seen.set(row.task_id, nth + 1);
      return [`${row.task_id}#${nth}`, row];
    }),
  );
}

/** The tables as Markdown. */
export function formatTables(tables: readonly FamilyTable[]): string {
  return tables.map(formatFamily).join("\n\n");
}

function formatFamily({ family, start, rows, orderings, pairs, answers, missing }: FamilyTable): string {
  const splits = Object.keys(rows[0]?.splits ?? start);
  const head = [
    "objective",
    "learning rate",
    "seeds",
    "fell apart",
    ...splits.flatMap((split) => [`${split}: reward`, "gain", "success"]),
    "KL spent (nats)",
    "CPU min a run",
  ];
  const before = ["(start)", "", "", "", ...splits.flatMap((s) => [...pair(start[s], "")]), "0", ""];
  const lines = rows.map((row) => [
    row.objective,
    `${row.learningRate}${row.atGridEnd ? " (end of grid)" : ""}`,
    String(row.seeds.length),
    String(row.fellApart),
    ...splits.flatMap((split) => pair(row.splits[split], formatDifference((row.splits[split] as SplitScore).gain))),
    formatInterval(row.kl),
    row.cpuMinutes === null ? "" : row.cpuMinutes.toFixed(2),
  ]);
  const table = markdownTable(head, [before, ...lines]);
  const ordered = orderings.map(
    ({ ahead, behind, difference }) => `${ahead} > ${behind} ${formatDifference(difference)}`,
  );
  const single = rows.filter(({ seeds }) => seeds.length < 2).map(({ objective }) => objective);
  return [
    `### ${family}`,
    table,
    single.length === 0 ? "" : `Of one seed, so that intervals leave out how seeds differ: ${single.join(", ")}.`,
    rows.length < 2
      ? ""
      : `Orderings whose 95 % interval leaves 0 out, of ${pairs} pairs (of equals at most about one in twenty does): ${ordered.join("; ") || "none"}.`,
    formatAnswers(splits[0] ?? "", answers),
    missing.length === 0 ? "" : `Not run: ${missing.join("; ")}.`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function pair(score: Pick<SplitScore, "reward" | "success"> | undefined, gain: string): string[] {
  return score === undefined
    ? ["", gain, ""]
    : [formatInterval(score.reward), gain, formatInterval(score.success, true)];
}
