import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readMetrics } from "../../src/runs/metrics.js";
import { stepName, stepsIn } from "../../src/runs/run-directory.js";

/** Reads the parts of a run that must not depend on the clock: checkpoints and best as bytes, the rest as values. */
export function timelessFiles(dir: string): Map<string, string | Buffer> {
  const files = new Map<string, string | Buffer>();
  for (const step of stepsIn(join(dir, "checkpoints"))) {
    for (const [name, bytes] of folder(join(dir, "checkpoints", stepName(step)))) files.set(`${step}/${name}`, bytes);
  }
  for (const [name, bytes] of folder(join(dir, "best"))) files.set(`best/${name}`, bytes);
  const metrics = existsSync(join(dir, "metrics.jsonl")) ? readMetrics(join(dir, "metrics.jsonl")) : [];
  for (const { time: _, workers: __, rollout_tokens_per_s: ___, ...row } of metrics)
    files.set(`metrics ${row.step}`, JSON.stringify(row));
  for (const [name, bytes] of folder(join(dir, "rollouts"))) files.set(`rollouts/${name}`, bytes);
  const evaluations = join(dir, "eval");
  for (const entry of existsSync(evaluations) ? readdirSync(evaluations, { recursive: true, encoding: "utf8" }) : []) {
    if (entry.endsWith(".json")) files.set(`eval/${entry}`, readFileSync(join(evaluations, entry), "utf8"));
  }
  return files;
}

const folder = (dir: string): [string, Buffer][] =>
  (existsSync(dir) ? readdirSync(dir) : []).sort().map((name) => [name, readFileSync(join(dir, name))]);

/** Lists the names under which two runs differ; `only` limits the comparison to the files of the second. */
export function differences(
  a: ReadonlyMap<string, string | Buffer>,
  b: ReadonlyMap<string, string | Buffer>,
  only?: "second",
): string[] {
  const names = new Set([...(only === "second" ? [] : a.keys()), ...b.keys()]);
  return [...names].filter((name) => {
    const [x, y] = [a.get(name), b.get(name)];
    return x === undefined || y === undefined || !Buffer.from(x).equals(Buffer.from(y));
  });
}
