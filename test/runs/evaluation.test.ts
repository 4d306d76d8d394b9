import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../src/core/errors.js";
import {
  compareEvaluations,
  type EpisodeScore,
  type Evaluation,
  formatComparisons,
  formatDifference,
  formatEvaluations,
  formatForms,
  formatInterval,
  formatLeftOut,
  formatPassAt,
  formatResult,
  formatTable,
  readEvaluation,
  summarize,
  writeEvaluation,
} from "../../src/runs/evaluation.js";
import { temporaryFolder } from "../support/temporary.js";
import { userError } from "../support/user-error.js";

const dir = temporaryFolder("evaluation");

const about = { split: "heldout", policy: "model", seed: 1, split_hash: "abc", temperature: 1 };

function episodes(n: number, reward: (i: number) => number): EpisodeScore[] {
  return Array.from({ length: n }, (_, i) => ({
    task_id: `t/${i}`,
    form: i % 2 === 0 ? "a/one" : "b/two",
    reward: reward(i),
    success: reward(i) > 0.9,
    metrics: { field_accuracy: reward(i) },
  }));
}

const evaluation = (reward: (i: number) => number, changes: Partial<Evaluation> = {}): Evaluation => ({
  ...summarize(episodes(40, reward), about),
  ...changes,
});

test("faults are counted and left out; forms are scored apart", () => {
  const rows = episodes(10, (i) => (i % 2 === 0 ? 1 : 0.5));
  const e = summarize([...rows, { ...(rows[0] as EpisodeScore), reward: 0, fault: "browser gone" }], about);
  assert.deepEqual([e.episodes, e.faults, e.reward.mean, e.success_rate.mean], [10, 1, 0.75, 0.5]);
  assert.deepEqual(e.left_out, [{ task_id: "t/0", fault: "browser gone" }]);
  assert.match(formatLeftOut(e), /^heldout: left out, .*: browser gone \(t\/0\)$/);
  assert.equal(formatLeftOut(summarize(rows, about)), "");
  assert.ok(e.reward.low < 0.75 && e.reward.high > 0.75);
  assert.deepEqual(e.per_form["a/one"]?.reward, { mean: 1, low: 1, high: 1 });
  assert.equal(e.per_form["b/two"]?.episodes, 5);
  assert.equal(e.per_task.length, 10);
  const lost = [{ ...(rows[0] as EpisodeScore), fault: "x" }];
  assert.throws(() => summarize(lost, about), userError(/1 faults: x/));
});

test("a file holds the whole evaluation, and a broken one is named", async () => {
  const path = join(dir, "heldout.json");
  const e = evaluation(() => 0.3);
  await writeEvaluation(path, e);
  assert.deepEqual(readEvaluation(path), e);
  writeFileSync(path, JSON.stringify({ ...e, reward: 0.3 }));
  assert.throws(() => readEvaluation(path), userError(/reward/));
  const odd = { ...e, metrics: JSON.parse('{"toString": {"mean": 1, "low": 1, "high": 1}}') };
  writeFileSync(path, JSON.stringify(odd));
  assert.throws(() => readEvaluation(path), /metrics\.toString: is a name that every object has/);
});

test("a comparison pairs by task, whatever the order and the gaps", () => {
  const before = evaluation((i) => (i % 10) / 10);
  const after = evaluation((i) => Math.min(1, (i % 10) / 10 + 0.05));
  const shuffled = { ...after, per_task: [...after.per_task].reverse().slice(0, 30) };
  const c = compareEvaluations(before, shuffled);
  assert.equal(c.pairs, 30);
  assert.equal(c.unpaired, 10);
  assert.ok(Math.abs(c.reward.mean - 0.05) < 1e-12 && c.reward.high - c.reward.low < 1e-9);
  assert.deepEqual(c.warnings, []);
});

test("a task that is drawn twice makes two pairs", () => {
  const rows = episodes(2, () => 0.5).map((row) => ({ ...row, task_id: "same" }));
  const before = summarize(rows, about);
  const other = rows.map((row, i) => ({ ...row, reward: i }));
  const c = compareEvaluations(before, summarize(other, about));
  assert.deepEqual([c.pairs, c.reward.mean], [2, 0]);
});

test("what cannot be compared is refused, what should not be is said", () => {
  const a = evaluation(() => 0.5);
  assert.throws(() => compareEvaluations(a, { ...a, split: "val" }), UserError);
  const others = a.per_task.map((t) => ({ ...t, task_id: `x${t.task_id}` }));
  assert.throws(() => compareEvaluations(a, { ...a, per_task: others }), /no task in common/);
  assert.deepEqual(compareEvaluations(a, { ...a, split_hash: "def" }).warnings, ["split_hash differs: abc and def"]);
});

test("forms are listed worst first with the sums of what the environment counts, then all together", () => {
  const row = (form: string, i: number, right: number, clean?: boolean): EpisodeScore => {
    const own = clean === undefined ? {} : { clean: Number(clean) };
    const [success, metrics] = [right === 4, { field_accuracy: right / 4 }];
    const counts = { accepted: Number(right > 0), pairs: 4, pairs_right: right, perfect: Number(success), ...own };
    return { task_id: `${form}/${i}`, form, reward: right / 4, success, metrics, counts };
  };
  const rated = [row("good", 0, 4, true), row("good", 1, 4, true), row("bad", 0, 0, false), row("bad", 1, 3, true)];
  /** The first seven columns, with bars between them. */
  const columns = (e: Evaluation): string[] => {
    const [table = ""] = formatForms(e).split("\n\n");
    return table.split("\n").map((line) =>
      line
        .trim()
        .split(/\s{2,}/)
        .slice(0, 7)
        .join("|"),
    );
  };
  assert.deepEqual(columns(summarize(rated, about)), [
    "form|episodes|accepted|pairs|pairs right|perfect|clean",
    "bad|2|1|8|3|0|1",
    "good|2|2|8|8|2|2",
    "all|4|3|16|11|2|3",
  ]);
  const unrated = summarize([row("one", 0, 4)], about);
  assert.match(columns(unrated)[0] ?? "", /\|reward$/);
  assert.equal("clean" in (unrated.per_task[0]?.counts ?? {}), false);
});

test("numbers and tables", () => {
  assert.equal(formatInterval({ mean: 0.4121, low: 0.38, high: 0.4409 }), "0.412 [0.380, 0.441]");
  assert.equal(formatInterval({ mean: 0.5, low: 0.25, high: 0.75 }, true), "50.0 % [25.0, 75.0]");
  assert.equal(formatDifference({ mean: 0.05, low: 0.02, high: 0.08 }), "+0.050 [+0.020, +0.080] *");
  assert.equal(formatDifference({ mean: -0.05, low: -0.08, high: -0.02 }, true), "-5.0 pp [-8.0, -2.0] *");
  assert.equal(formatDifference({ mean: 0.05, low: 0.02, high: 0.08 }, false, 6), "+0.050 [+0.020, +0.080] *");
  assert.equal(formatDifference({ mean: 0.05, low: 0.02, high: 0.08 }, false, 5), "+0.050 [+0.020, +0.080]");
  assert.equal(formatDifference({ mean: -0.0001, low: -0.1, high: 0.1 }), "0.000 [-0.100, +0.100]");
  const rows = [",n", "a,10", "bcd,2"].map((row) => row.split(","));
  assert.equal(formatTable(rows), "      n\na    10\nbcd   2");
  const e = evaluation((i) => (i % 10) / 10);
  const lines = formatEvaluations(["before", "after"].map((label) => ({ label, evaluation: e }))).split("\n");
  assert.match(lines[1] as string, /^before +heldout +40 +0 +0\.450 \[/);
  // what does not fit in a line follows below: 36 of 40 rewards are above 0
  assert.deepEqual([lines.length, lines[3]], [7, ""]);
  assert.match(lines.slice(4).join("\n"), /nonzero rate\nbefore +heldout +0\.900 \[/);
  assert.match(formatForms(e).split("\n")[1] as string, /^a\/one/);
  const text = formatComparisons([{ label: "r", comparison: compareEvaluations(e, { ...e, seed: 2 }) }]);
  assert.match(text, /r, heldout: seed differs: 1 and 2/);
});

test("several attempts at a task are one draw, and give pass@k over the tasks that have them all", () => {
  const tries = (task: string, ...successes: boolean[]): EpisodeScore[] =>
    successes.map((success) => ({ task_id: task, form: "f", reward: Number(success), success, metrics: {} }));
  const rows = [...tries("a", true, false), ...tries("b", false, false), ...tries("c", true, true)];
  const torn: EpisodeScore[] = [...tries("d", true), { ...(tries("d", false)[0] as EpisodeScore), fault: "gone" }];
  const e = summarize([...rows, ...torn], about, 2);
  assert.deepEqual([e.pass_at?.attempts, e.pass_at?.tasks], [2, 3]);
  const means = e.pass_at?.rates.map(({ mean }) => mean);
  assert.deepEqual(means, [0.5, 2 / 3]);
  const shown = /^heldout: 2 attempts at each of 3 tasks\npass@1 +50\.0 % \[0\.0, 100\.0\]\npass@2 +66\.7 %/;
  assert.match(formatPassAt(e), shown);
  // .5, 0, 1 and 1, not seven draws
  assert.equal(e.reward.mean, 0.625);
  assert.equal(summarize(rows, about).pass_at, undefined);
});

test("evaluations by another judge, or of other tasks, are compared with a warning", () => {
  const checksum = { judge: "11111111aaaa", tasks: "22222222aaaa" };
  const before = evaluation(() => 1, { checksum });
  assert.deepEqual(compareEvaluations(before, { ...before }).warnings, []);
  const judged = evaluation(() => 1, { checksum: { ...checksum, judge: "33333333aaaa" } });
  assert.deepEqual(compareEvaluations(before, judged).warnings, ["judge differs: 11111111 and 33333333"]);
  const unsigned = evaluation(() => 1);
  const old = compareEvaluations(before, unsigned);
  assert.deepEqual(old.warnings, ["judge differs: 11111111 and none", "tasks differs: 22222222 and none"]);
  assert.match(formatEvaluations([{ label: "x", evaluation: before }]), /checksum\n.* 11111111-22222222$/);
});

test("a run's result ends with its outcome in a sentence, and no line is longer than a terminal", () => {
  const before = evaluation((i) => (i % 10) / 10);
  const after = evaluation((i) => Math.min(1, (i % 10) / 10 + 0.1));
  const same = [
    { ...before, split: "val" },
    { ...after, split: "val", per_task: before.per_task, reward: before.reward },
  ] as const;
  const parts = formatResult([before, same[0]], [after, same[1]]).split("\n\n");
  assert.match(
    parts.at(-1) ?? "",
    /^heldout: 4 of 40 forms whole, 0 before; certain\. Reward 0\.550, 0\.450 before; certain\.\nval: 0 of 40 forms whole, 0 before; not certain\. Reward 0\.450, 0\.450 before; not certain\.$/,
  );
  assert.match(parts[0] ?? "", /^episodes of +before +after +after - before\nheldout +40 +40 +40 pairs\n {2}reward +/);
  assert.match(formatResult([], [{ ...after, metrics: {} }]), /\nheldout: 4 of 40 solved\. Reward 0\.550\.$/);
  const metrics = Object.fromEntries([..."abcdefgh"].map((name) => [`measure_${name}`, before.reward]));
  const wide = [{ label: "model", evaluation: { ...before, metrics } }];
  const tables = formatEvaluations(wide).split("\n\n");
  const split = tables.every((table) => /^ +split .*\nmodel +heldout /.test(table));
  assert.ok(tables.length > 1 && split, tables.join("\n"));
  const lines = `${tables.join("\n")}\n${formatResult([before], [after])}`;
  assert.doesNotMatch(lines, /^.{101}/m);
});
