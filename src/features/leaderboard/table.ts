import { type Interval, mean } from "../../core/statistics.js";
import { byEpisode, type Evaluation, formatDifference, formatInterval, type TaskScore } from "../../runs/evaluation.js";
import { answersOf, formatAnswers, markdownTable } from "./answers.js";
import { crossedInterval } from "./crossed-interval.js";
import { entriesOf, entryKey, type Leaderboard } from "./plan.js";
import { gridsOf, type Results, type RunResult } from "./play.js";

/** Loss of reward that counts as a collapse. */
const FELL_APART = 0.1;

type Measure = (row: TaskScore) => number;
const reward: Measure = (row) => row.reward;
const success: Measure = (row) => Number(row.success);

/** Makes a leaderboard's tables from its results. Objectives are sorted by their reward on the first split. */
export function tablesOf(board: Leaderboard, results: Results): FamilyTable[] {
  return Object.keys(board.families).map((family) => tableOf(board, results, family));
}

/** A reported run. */
type Made = RunResult & { readonly seed: number };

/** Collects the reported runs of a family's objectives, and lists the missing ones. */
function madeOf(board: Leaderboard, { runs, rates }: Results, family: string): [Map<string, Made[]>, string[]] {
  const made = new Map<string, Made[]>();
  const missing: string[] = [];
  for (const entry of entriesOf(board, family)) {
    const own = runs.filter(({ run }) => !run.tuning && entryKey(run) === entryKey(entry));
    const isChosen = rates.has(entryKey(entry));
    if (!isChosen) missing.push(`${entry.objective}: its grid of learning rates`);
    const reported = board.seeds.flatMap((seed): Made[] => {
      const result = own.find(({ run }) => run.seed === seed)?.result;
      if (result === undefined && isChosen) missing.push(`${entry.objective}: seed ${seed}`);
      return result === undefined ? [] : [{ ...result, seed }];
    });
    if (reported.length > 0) made.set(entry.objective, reported);
  }
  return [made, missing];
}

function tableOf(board: Leaderboard, results: Results, family: string) {
  const [made, missing] = madeOf(board, results, family);
  const start = results.start.get(family) ?? [];
  const all = [...(start.length === 0 ? [] : [start]), ...[...made.values()].flat().map((run) => run.evaluations)];
  const bySplit = new Map(board.splits.map((split) => [split, sharedEpisodes(all, split)]));
  const [first] = board.splits as [Leaderboard["splits"][number]];
  const onFirst = (evaluations: readonly Evaluation[]): Evaluation[] => evaluations.filter((e) => e.split === first);
  const rewardOf = (evaluations: readonly Evaluation[]): number => onFirst(evaluations)[0]?.reward.mean ?? Number.NaN;
  const grids = gridsOf(results.runs);
  const rows = [...made].map(([objective, runs]) => {
    const key = entryKey({ family, objective });
    const [rate, grid] = [results.rates.get(key) as number, grids.get(key) ?? []];
    const cpu = runs.flatMap(({ cpu_s }) => cpu_s ?? []);
    const spent = runs.map(({ kl }) => [kl]);
    return {
      objective,
      /** Chosen on the tuning seeds; at an end of the grid, a better one may lie beyond. */
      learningRate: rate,
      atGridEnd: rate === Math.min(...grid) || rate === Math.max(...grid),
      seeds: runs.map(({ seed }) => seed),
      /** Number of seeds whose final mean reward is more than FELL_APART below the start's, on the first split. */
      fellApart: runs.filter((run) => rewardOf(run.evaluations) < rewardOf(start) - FELL_APART).length,
      /** By split: means over seeds, forms and episodes, and gains over the start on the same episodes. */
      splits: Object.fromEntries<SplitScore>([...bySplit].map(([split, of]) => [split, of.score(runs, start)])),
      /** Nats per response, over seeds. */
      kl: crossedInterval(spent, [""], { range: [0, Infinity] }),
      /** CPU minutes of training per run; null if every run was resumed. */
      cpuMinutes: cpu.length === 0 ? null : mean(cpu) / 60,
    };
  });
  const of = (row: (typeof rows)[number]): number => row.splits[first]?.reward.mean ?? 0;
  rows.sort((a, b) => of(b) - of(a));
  const evaluationsOf = ({ objective }: (typeof rows)[number]) =>
    made.get(objective)?.flatMap((run) => run.evaluations) ?? [];
  const evaluated = new Map([["(start)", start], ...rows.map((row) => [row.objective, evaluationsOf(row)] as const)]);
  const answers = [...evaluated].flatMap(([objective, evaluations]) => {
    const row = answersOf(onFirst(evaluations));
    return row === undefined ? [] : [[objective, row] as const];
  });
  const splits = start.length === 0 ? [] : [...bySplit];
  return {
    family,
    start: Object.fromEntries<SplitScore>(splits.map(([split, of]) => [split, of.score([{ evaluations: start }])])),
    rows,
    /** Pairs whose interval on the first split excludes 0, and the number of all pairs. */
    orderings: orderingsOf(
      rows.map(({ objective }) => objective),
      made,
      bySplit.get(first) as Episodes,
    ),
    pairs: (rows.length * (rows.length - 1)) / 2,
    /** Diversity on tasks with several right answers, on the first split, by objective. */
    answers,
    /** Missing runs: `objective seed 3`, or an objective's grid. */
    missing,
  };
}

/** Lists the pairs of significantly different objectives; those with a single run are left out. */
function orderingsOf(objectives: readonly string[], made: ReadonlyMap<string, Made[]>, { difference }: Episodes) {
  const several = objectives.filter((name) => (made.get(name)?.length ?? 0) > 1);
  const pairs = several.flatMap((ahead, i) => several.slice(i + 1).map((behind) => ({ ahead, behind })));
  return pairs
    .map((pair) => ({ ...pair, difference: difference(made.get(pair.ahead) ?? [], made.get(pair.behind) ?? []) }))
    .filter((ordering) => ordering.difference.low > 0);
}

type Evaluated = { readonly evaluations: readonly Evaluation[] };
type Episodes = ReturnType<typeof sharedEpisodes>;
type SplitScore = ReturnType<Episodes["score"]>;
type FamilyTable = ReturnType<typeof tableOf>;

/** Selects the episodes of a split that every evaluation scored: a fault in one excludes the episode from all. */
function sharedEpisodes(all: readonly (readonly Evaluation[])[], split: string) {
  const rowsOf = (evaluations: readonly Evaluation[]): Map<string, TaskScore>[] =>
    evaluations.filter((e) => e.split === split).map(({ per_task }) => byEpisode(per_task));
  const scored = all.flatMap(rowsOf);
  const kept = [...(scored[0] ?? [])].filter(([key]) => scored.every((rows) => rows.has(key)));
  const forms = kept.map(([, { form }]) => form);
  const values = (runs: readonly Evaluated[], measure: Measure): number[][] =>
    runs.map(({ evaluations }) => {
      const [rows] = rowsOf(evaluations) as [Map<string, TaskScore>];
      return kept.map(([key]) => measure(rows.get(key) as TaskScore));
    });
  return {
    /** @param start evaluations before training, on the same episodes; none: all gains are 0. */
    score(runs: readonly Evaluated[], start: readonly Evaluation[] = []) {
      const rewards = values(runs, reward);
      const [before = []] = start.length === 0 ? [] : values([{ evaluations: start }], reward);
      const gains = rewards.map((row) => row.map((value, i) => value - (before[i] ?? value)));
      return {
        reward: crossedInterval(rewards, forms),
        success: crossedInterval(values(runs, success), forms, { range: [0, 1] }),
        gain: crossedInterval(gains, forms),
      };
    },
    difference: (a: readonly Evaluated[], b: readonly Evaluated[]): Interval =>
      crossedInterval(values(a, reward), forms, { minus: values(b, reward) }),
  };
}

/** Formats the tables as Markdown. */
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
