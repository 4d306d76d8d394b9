import type { Environment, EpisodeOutcome } from "../../env/environment.js";
import { formatTable } from "../../runs/evaluation.js";
import type { RolloutRecord } from "../../runs/rollout-record.js";

/** A rollout whose verdict or reward differs from its record. */
export interface Moved {
  readonly step: number;
  readonly group: number;
  readonly rollout: number;
  readonly task_id: string;
  readonly before: Judged;
  readonly after: Judged;
}

export interface Rejudged {
  /** Judged rollouts by task: their number, and sums of the rewards before and after. */
  readonly tasks: Readonly<
    Record<string, { readonly rollouts: number; readonly before: number; readonly after: number }>
  >;
  readonly moved: readonly Moved[];
  /** Numbers of rollouts that could not be judged, by the missing data. */
  readonly lacking: Readonly<Record<string, number>>;
  /** Number of episodes with an environment fault, which have no verdict. */
  readonly faults: number;
}

/** Tolerance for sums of floats in different orders. */
const SAME = 1e-9;

/** Reads verdict and reward; undefined without a reward. */
function judged({ reward, success, detail }: Pick<EpisodeOutcome, "reward" | "success" | "detail">) {
  const { accepted } = detail;
  return reward === null
    ? undefined
    : { accepted: typeof accepted === "boolean" ? accepted : undefined, success, reward };
}
type Judged = NonNullable<ReturnType<typeof judged>>;

/** Judges recorded rollouts with the present judge. */
export async function rejudgeRollouts(environment: Environment, records: Iterable<RolloutRecord>): Promise<Rejudged> {
  const known = new Map(environment.tasks.map((task) => [task.id, task]));
  const tasks: Record<string, { rollouts: number; before: number; after: number }> = {};
  const moved: Moved[] = [];
  const lacking: Record<string, number> = {};
  let faults = 0;
  for (const record of records) {
    const { step, group, rollout, task_id, detail } = record;
    const before = judged(record);
    if (before === undefined) {
      faults++;
      continue;
    }
    const task = known.get(task_id);
    const outcome = task && (await environment.rejudge?.(task, detail));
    const after = typeof outcome === "object" ? judged(outcome) : undefined;
    if (after === undefined) {
      const none = `nothing of an exchange: ${environment.name} keeps none`;
      const lack = task === undefined ? "no task of its id today" : typeof outcome === "object" ? "a reward" : outcome;
      lacking[lack ?? none] = (lacking[lack ?? none] ?? 0) + 1;
      continue;
    }
    tasks[task_id] ??= { rollouts: 0, before: 0, after: 0 };
    const sums = tasks[task_id];
    sums.rollouts++;
    sums.before += before.reward;
    sums.after += after.reward;
    const same = before.accepted === after.accepted && before.success === after.success;
    if (!same || Math.abs(before.reward - after.reward) > SAME)
      moved.push({ step, group, rollout, task_id, before, after });
  }
  return { tasks, moved, lacking, faults };
}

/** Formats the changed verdicts by task, then the totals, then the rollouts that could not be judged. */
export function formatRejudged({ tasks, moved, lacking, faults }: Rejudged): string {
  const row = (name: string, ids: readonly string[]): string[] => {
    const own = moved.filter(({ task_id }) => ids.includes(task_id));
    const sum = (key: "rollouts" | "before" | "after"): number =>
      ids.reduce((all, id) => all + (tasks[id]?.[key] ?? 0), 0);
    const flips = (key: "accepted" | "success"): string => {
      const up = own.filter(({ before, after }) => after[key] === true && before[key] !== true).length;
      const down = own.filter(({ before, after }) => before[key] === true && after[key] !== true).length;
      return `+${up} -${down}`;
    };
    const n = sum("rollouts");
    const mean = (key: "before" | "after"): string => (n === 0 ? "" : (sum(key) / n).toFixed(3));
    return [name, String(n), String(own.length), flips("accepted"), flips("success"), mean("before"), mean("after")];
  };
  const named = [...new Set(moved.map(({ task_id }) => task_id))].sort();
  const head = ["task", "rollouts", "moved", "accepted", "success", "reward before", "reward now"];
  return [
    formatTable([head, ...named.map((id) => row(id, [id])), row("all", Object.keys(tasks))]),
    ...Object.entries(lacking).map(([lack, count]) => `${count} rollouts could not be judged: ${lack}`),
    ...(faults === 0 ? [] : [`${faults} rollouts have no reward: the environment failed`]),
  ].join("\n");
}
