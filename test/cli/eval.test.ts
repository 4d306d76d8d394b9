import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { summarize, writeEvaluation } from "../../src/runs/evaluation.js";
import { callProgram } from "../support/call-program.js";
import { temporaryFolder } from "../support/temporary.js";

const dir = temporaryFolder("cli-eval");

const run = (...args: string[]) => callProgram("eval", dir, args);

async function evaluated(name: string, gain: number, splits: readonly string[], folder = "eval"): Promise<void> {
  mkdirSync(join(dir, name));
  writeFileSync(join(dir, name, "config.yaml"), "model: m\n");
  for (const split of splits) {
    const rows = Array.from({ length: 30 }, (_, i) => {
      const reward = (i % 7) / 10 + gain;
      return { task_id: `t${i}`, form: "f", reward, success: false, metrics: { field_accuracy: 0.5 } };
    });
    const about = { split, policy: "model", seed: 1, split_hash: "h", temperature: 1 };
    await writeEvaluation(join(dir, name, folder, `${split}.json`), summarize(rows, about));
  }
}

test("wrong calls exit 2", async () => {
  for (const [args, message] of [
    [[], /Nothing to evaluate/],
    [["--run", "a", "--config", "b"], /Both --run and --config/],
    [["--run", "a", "--split", "hold"], /Allowed choices are train, val, test, heldout/],
    [["--run", "a", "--checkpoint", "newest"], /best, last or the number/],
    [["--run", "a", "--episodes", "0"], /from 1 to 1000000/],
    [["--config", "configs/tiny/quickstart.yaml", "--policy", "human"], /no policy human of its own; it has oracle, /],
    [["comapre", "a", "b"], /"comapre" is neither a command nor key=value[\s\S]*did you mean compare/],
    [["compare"], /missing required argument/],
    [["compare", "a"], /at least two runs/],
  ] as const) {
    const { code, out, err } = await run(...args);
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.match(err, message);
  }
});

test("compare pairs runs with the first one, as a table and as JSON", async () => {
  await evaluated("one", 0, ["heldout", "val"]);
  await evaluated("two", 0.1, ["heldout", "val"]);
  await evaluated("three", 0.2, ["test"]);
  const table = await run("compare", "one", "two");
  assert.equal(table.code, 0, table.err);
  assert.match(table.out, /two +heldout +30 +\+0\.100 \[\+0\.100, \+0\.100\] \*/);
  const json = await run("compare", "one", "two", "--split", "val", "--json");
  assert.equal(json.code, 0, json.err);
  const [row, ...more] = JSON.parse(json.out) as { run: string; split: string; reward: { mean: number } }[];
  assert.equal(more.length, 0);
  assert.deepEqual([row?.run, row?.split], ["two", "val"]);
  assert.ok(Math.abs((row?.reward.mean ?? 0) - 0.1) < 1e-12);
  const files = await run("compare", "one/eval/val.json", "two/eval/val.json");
  assert.equal(files.code, 0, files.err);
  // what `refusion-eval --run` wrote of the last checkpoint, for a run that made no evaluation itself
  await evaluated("later", 0.3, ["val"], "eval/last");
  const later = await run("compare", "one", "later");
  assert.match(later.out, /later +val +30 +\+0\.300/, later.err);
  const apart = await run("compare", "one", "three");
  assert.equal(apart.code, 1);
  assert.match(apart.err, /no evaluated split in common[\s\S]*next: /);
  assert.equal((await run("compare", "one", "nowhere")).code, 1);
});
