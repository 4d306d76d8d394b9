import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../../src/core/files.js";
import {
  compared,
  formatOutcomes,
  reproduce,
  rowNamed,
  rowsOfData,
} from "../../../src/features/reproduce/reproduce.js";
import { summarize } from "../../../src/runs/evaluation.js";
import { callProgram } from "../../support/call-program.js";

const evaluation = (rewards: readonly number[]) => {
  const rows = rewards.map((reward, i) => {
    return { task_id: `t${i}`, form: "f", reward, success: reward === 1, metrics: { right: 0.5 } };
  });
  return summarize(rows, { split: "val", policy: "model", seed: 1, split_hash: "h", temperature: 1 });
};
const figure = { split: "val", of: "reward", gain: true, mean: 0.5, low: 0.25, high: 0.5 };

test("a figure is inside where the mean lies in the printed interval, rounded as it is printed", () => {
  const result = { before: [evaluation([0, 0])], after: [evaluation([1, 0.0008])] };
  for (const [changes, mean, inside] of [
    [{}, 0.5004, true],
    [{ high: 0.499 }, 0.5004, false],
    [{ of: "success_rate", low: 0.51 }, 0.5, false],
    [{ of: "right", gain: false }, 0.5, true],
  ] as const) {
    const found = compared({ ...figure, ...changes }, result);
    assert.deepEqual([Number(found.here.mean.toFixed(6)), found.inside], [mean, inside]);
  }
  const row = /^val reward gained +\+0\.500 \[\+0\.250, \+0\.500\] +\+0\.500 \[.*\] +inside$/m;
  assert.match(formatOutcomes([compared(figure, result)]), row);
  assert.throws(() => compared({ ...figure, split: "test" }, result), /has no reward on test/);
});

test("at least eight rows take less than ten minutes; their figures are printed ones", async () => {
  const rows = rowsOfData();
  assert.ok(rows.filter(({ minutes }) => minutes < 10).length >= 8);
  assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length);
  const printed = readFileSync(join(packageRoot(), "docs", "results.md"), "utf8");
  for (const row of rows.filter(({ id }) => /^(blanks|letters)/.test(id)))
    for (const { mean } of row.figures) assert.ok(printed.includes(mean.toFixed(3)), row.id);
  // an interval is the figure's own: one width for all is a guess
  const widths = rows.flatMap(({ figures }) => figures.map(({ low, high }) => (high - low).toFixed(3)));
  assert.ok(new Set(widths).size > widths.length / 2, widths.join());
  for (const { figures } of rows) for (const { mean, low, high } of figures) assert.ok(low < mean && mean < high);
  assert.throws(() => rowNamed(rows, "letter-0"), /no row letter-0/);
  const { out } = await callProgram("train", packageRoot(), ["reproduce"]);
  assert.match(out, /^letters-0 +\d+ +Letters: 40 steps/m);
});

test("a row's commands run in an empty folder, its site until the last has ended, whose result is compared", async () => {
  const command = "refusion-eval --config configs/letters/objectives.yaml --policy oracle --split val --episodes 1";
  const oracle = { ...figure, gain: false, mean: 1, low: 1, high: 1 };
  const run = (...commands: string[]) =>
    reproduce({ id: "o", title: "", cpu: "", minutes: 1, commands, figures: [oracle] });
  assert.equal((await run("node configs/verdict/claim.mjs runs/claim 0 &", command))[0]?.inside, true);
  await assert.rejects(run(`${command} nope=1`), /exit code 2/);
  await assert.rejects(run("node configs/verdict/none.mjs runs/claim 0 &", command), /none\.mjs .* ended early/);
});
