import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { formatMetrics, MetricsWriter, readMetrics } from "../../src/runs/metrics.js";
import { stepMetrics as metrics } from "../support/step-metrics.js";
import { temporaryFolder } from "../support/temporary.js";

const dir = temporaryFolder("metrics");

test("what is written is read back, in a fixed order of keys", async () => {
  const path = join(dir, "a.jsonl");
  const writer = await MetricsWriter.open(path);
  const rows = [metrics(1), metrics(2, { loss: null, extra: { zeta: 1, alpha: null } })];
  rows.push(metrics(3, { workers: { workers: 2, waiting: 5, idle: 0.25 } }));
  for (const row of rows) writer.append(row);
  assert.deepEqual(readMetrics(path), rows);
  const line = JSON.parse(readFileSync(path, "utf8").split("\n")[1] as string) as object;
  assert.deepEqual(Object.keys(line).slice(-4), ["rollout_tokens_per_s", "alpha", "zeta", "time"]);
  const { time, ...rest } = metrics(1);
  assert.equal(formatMetrics({ time, ...rest }), formatMetrics(metrics(1)));
});

test("a supervised step has no keys of episodes, and a resume adds none", async () => {
  const path = join(dir, "supervised.jsonl");
  const { step, faults, loss, grad_norm, lr, tokens, time } = metrics(1);
  const line = { step, faults, loss, grad_norm, lr, tokens, time };
  (await MetricsWriter.open(path)).append(line);
  const written = readFileSync(path, "utf8");
  assert.deepEqual(Object.keys(JSON.parse(written)), Object.keys(line));
  assert.deepEqual(readMetrics(path), [line]);
  await MetricsWriter.open(path, 1);
  assert.equal(readFileSync(path, "utf8"), written);
});

test("a number that is not finite is refused by name, and so is a clash of keys", () => {
  assert.throws(() => formatMetrics(metrics(4, { loss: Number.NaN })), /step 4: loss is NaN/);
  assert.throws(() => formatMetrics(metrics(4, { extra: { elbo: Number.POSITIVE_INFINITY } })), /elbo is Infinity/);
  const time = { rollout: Number.NaN, score: 0, update: 0, total: 0 };
  assert.throws(() => formatMetrics(metrics(4, { time })), /time\.rollout/);
  assert.throws(() => formatMetrics(metrics(4, { extra: { kl: 1 } })), /"kl"/);
});

test("steps ascend", async () => {
  const writer = await MetricsWriter.open(join(dir, "b.jsonl"));
  writer.append(metrics(3));
  assert.throws(() => writer.append(metrics(3)), /after step 3/);
});

test("a resume cuts later steps and a half-written line, and the bytes are as if nothing had happened", async () => {
  const [whole, cut] = [join(dir, "whole.jsonl"), join(dir, "cut.jsonl")];
  const uninterrupted = await MetricsWriter.open(whole);
  for (let step = 1; step <= 5; step++) uninterrupted.append(metrics(step));
  const first = await MetricsWriter.open(cut);
  for (let step = 1; step <= 4; step++) first.append(metrics(step));
  appendFileSync(cut, '{"step":5,"rew');
  assert.equal(readMetrics(cut).length, 4);
  const resumed = await MetricsWriter.open(cut, 2);
  for (let step = 3; step <= 5; step++) resumed.append(metrics(step));
  assert.equal(readFileSync(cut, "utf8"), readFileSync(whole, "utf8"));
});

test("a resume behind a checkpoint that its metrics do not reach says which steps are missing", async () => {
  const path = join(dir, "lost.jsonl");
  const lines = [1, 2, 3, 4, 5, 6].map((step) => formatMetrics(metrics(step)));
  const resume = async (content: string, through: number): Promise<{ steps: number[]; said: string[] }> => {
    writeFileSync(path, content);
    const said: string[] = [];
    const writer = await MetricsWriter.open(path, through, (text) => said.push(text));
    const steps = readMetrics(path).map(({ step }) => step);
    writer.append(metrics(through + 1));
    assert.equal(readMetrics(path).at(-1)?.step, through + 1);
    return { steps, said };
  };
  const all = `${lines.join("\n")}\n`;
  assert.deepEqual(await resume(all, 6), { steps: [1, 2, 3, 4, 5, 6], said: [] });
  // what a disk may leave behind the last line that was synced: zeros, half lines, lines of steps that run again
  for (const tail of ["", "\0".repeat(5000), `\0\0\n${lines[5]}\n`, '{"step":5,\n', '{"st'])
    assert.deepEqual(await resume(`${lines.slice(0, 4).join("\n")}\n${tail}`, 4), { steps: [1, 2, 3, 4], said: [] });
  assert.ok(!existsSync(`${path}.damaged`));
  const short = await resume(`${lines.slice(0, 3).join("\n")}\n`, 6);
  assert.deepEqual(short.steps, [1, 2, 3]);
  assert.match(short.said.join(), /lost\.jsonl lacks steps 4 to 6, which .* goes on, with a gap in its curves$/);
  const torn = `${lines[0]}\n${"\0".repeat(100)}\n${lines[3]}\n${lines[5]}`;
  const damaged = await resume(torn, 6);
  assert.deepEqual(damaged.steps, [1, 4, 6]);
  assert.match(damaged.said.join(), /lacks steps 2 to 3, 5, .*as it was is kept as .*lost\.jsonl\.damaged$/);
  assert.equal(readFileSync(`${path}.damaged`, "utf8"), torn);
  rmSync(path);
  const said: string[] = [];
  await MetricsWriter.open(path, 1, (text) => said.push(text));
  assert.match(said.join(), /lacks step 1, /);
});

test("a broken line is named", () => {
  const path = join(dir, "broken.jsonl");
  writeFileSync(path, `${formatMetrics(metrics(1))}\nnonsense\n${formatMetrics(metrics(2))}\n`);
  assert.throws(() => readMetrics(path), { name: "UserError", message: /line 2/ });
  writeFileSync(path, "[]\n");
  assert.throws(() => readMetrics(path), /line 1: no step metrics/);
});
