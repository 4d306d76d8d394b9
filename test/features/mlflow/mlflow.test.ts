import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import type { RunConfig } from "../../../src/config/config.js";
import { MlflowTracker } from "../../../src/features/mlflow/trackers/mlflow.js";
import { temporaryFolder } from "../../support/temporary.js";
import { type MlflowServer, serveMlflow } from "./mlflow-server.js";

const config = {
  seed: 3,
  init_adapter: null,
  lora: { targets: ["q_proj", "k_proj"] },
  long: "x".repeat(900),
} as unknown as RunConfig;

let server: MlflowServer;
let warnings: string[] = [];
beforeEach(async () => {
  server = await serveMlflow();
  warnings = [];
});
afterEach(() => server.stop());

function tracker(
  options: { dir?: string; done?: number; uri?: string; env?: Record<string, string> } = {},
): MlflowTracker {
  const { done = 0, uri = server.uri, env = {} } = options;
  const dir = options.dir ?? temporaryFolder("mlflow");
  return new MlflowTracker(
    { uri, experiment: "forms", env, waitsMs: [1, 1], timeoutMs: 2000 },
    { name: "quickstart", command: "flow-grpo", dir, done, config, warn: (text) => warnings.push(text) },
  );
}

test("a run with its config, metrics and end arrives", async () => {
  const mlflow = tracker();
  mlflow.log(1, { "train/reward": 0.5, "time/total": 3.5 });
  mlflow.log(2, { "train/reward": 0.6 });
  await mlflow.end("finished");
  assert.deepEqual([...server.experiments], [["forms", "1"]]);
  const run = server.runs.get("run1");
  assert.equal(server.runs.size, 1);
  assert.deepEqual([run?.name, run?.status, typeof run?.endTime], ["quickstart", "FINISHED", "number"]);
  const actual = run?.metrics.map(({ key, value, step }) => [key, value, step]);
  assert.deepEqual(actual, [
    ["train/reward", 0.5, 1],
    ["time/total", 3.5, 1],
    ["train/reward", 0.6, 2],
  ]);
  const found = [...(run?.params ?? [])].map(([key, value]) => [key, value.slice(0, 20)]);
  assert.deepEqual(found, [
    ["seed", "3"],
    ["init_adapter", "null"],
    ["lora.targets", '["q_proj","k_proj"]'],
    ["long", "x".repeat(20)],
  ]);
  assert.deepEqual(warnings, []);
});

test("many values go in batches, to an experiment that is there already", async () => {
  server.experiments.set("forms", "7");
  const mlflow = tracker();
  for (let step = 1; step <= 130; step++)
    mlflow.log(step, Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`train/m${i}`, step])));
  await mlflow.end("interrupted");
  const run = server.runs.get("run1");
  assert.deepEqual([run?.experiment, run?.status, run?.metrics.length], ["7", "KILLED", 2600]);
});

test("a resumed run goes on in its own run; a new run in that directory does not", async () => {
  const dir = temporaryFolder("resumed");
  const first = tracker({ dir });
  first.log(1, { "train/reward": 0.5 });
  await first.end("failed");
  assert.equal(server.runs.get("run1")?.status, "FAILED");
  const second = tracker({ dir, done: 1 });
  second.log(2, { "train/reward": 0.6 });
  await second.end("finished");
  assert.equal(server.runs.size, 1);
  assert.deepEqual([server.runs.get("run1")?.status, server.runs.get("run1")?.metrics.length], ["FINISHED", 2]);
  const note = JSON.parse(readFileSync(join(dir, "mlflow.json"), "utf8")) as Record<string, string>;
  assert.deepEqual(note, { uri: server.uri, experiment: "forms", run_id: "run1" });
  writeFileSync(join(dir, "mlflow.json"), "nonsense");
  const third = tracker({ dir, done: 2 });
  third.log(3, { "train/reward": 0.7 });
  await third.end("finished");
  assert.equal(server.runs.size, 2);
});

test("values survive a server that fails for a while; the user is told once", async () => {
  server.fail(503, 2);
  const mlflow = tracker();
  mlflow.log(1, { a: 1 });
  mlflow.log(2, { a: 2 });
  await mlflow.end("finished");
  const steps = server.runs.get("run1")?.metrics.map(({ step }) => step);
  assert.deepEqual(steps, [1, 2]);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /^mlflow does not answer .*HTTP 503/);
});

test("without a server the run ends in bounded attempts, with one warning and a count of what is missing", async () => {
  const { uri } = server;
  await server.stop();
  const mlflow = tracker({ uri });
  for (let step = 1; step <= 5; step++) mlflow.log(step, { a: step });
  await mlflow.end("finished");
  assert.equal(warnings.length, 2);
  assert.match(warnings[0] ?? "", /ECONNREFUSED/);
  assert.match(warnings[1] ?? "", /5 values were not delivered/);
});

test("a refusal turns it off: no further requests", async () => {
  server.fail(403, 1);
  const mlflow = tracker();
  mlflow.log(1, { a: 1 });
  await mlflow.end("finished");
  mlflow.log(2, { a: 2 });
  await mlflow.end("finished");
  assert.equal(server.requests, 1);
  assert.deepEqual(warnings, [
    "mlflow is off for the rest of this run: GET experiments/get-by-name: HTTP 403, not now",
  ]);
});

test("credentials come from the environment, as MLflow's own client reads them, and are written nowhere", async () => {
  const dir = temporaryFolder("credentials");
  for (const [env, expected] of [
    [{}, undefined],
    [{ MLFLOW_TRACKING_TOKEN: "t0-secret" }, "Bearer t0-secret"],
    [{ MLFLOW_TRACKING_USERNAME: "ada", MLFLOW_TRACKING_PASSWORD: "secret" }, `Basic ${btoa("ada:secret")}`],
  ] as const) {
    server.authorizations.length = 0;
    const mlflow = tracker({ dir, env });
    mlflow.log(1, { a: 1 });
    await mlflow.end("finished");
    assert.deepEqual([...new Set(server.authorizations)], [expected]);
  }
  const files = readdirSync(dir).map((file) => readFileSync(join(dir, file), "utf8"));
  assert.ok(files.length > 0);
  assert.doesNotMatch(JSON.stringify([files, warnings, ...server.runs]), /secret/);
});
