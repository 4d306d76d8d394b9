import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { configDifferences, loadConfig, type RunConfig } from "../../../src/config/config.js";
import { UserError } from "../../../src/core/errors.js";
import { MlflowTracker } from "../../../src/features/mlflow/trackers/mlflow.js";
import { temporaryFolder } from "../../support/temporary.js";
import { type MlflowServer, serveMlflow } from "./mlflow-server.js";

const lora = { targets: ["q_proj", "k_proj"] };
const config = { seed: 3, init_adapter: null, lora, long: "x".repeat(900) } as unknown as RunConfig;

let server: MlflowServer;
let warnings: string[] = [];
beforeEach(async () => {
  server = await serveMlflow();
  warnings = [];
});
afterEach(() => server.stop());

function tracker(given: { dir?: string; done?: number; uri?: string; env?: Record<string, string> } = {}) {
  const { dir = temporaryFolder("mlflow"), done = 0, uri = server.uri, env = {} } = given;
  const run = { name: "quickstart", command: "flow-grpo", dir, done, config };
  const options = { uri, experiment: "forms", env, waitsMs: [1, 1], timeoutMs: 2000 };
  return new MlflowTracker(options, { ...run, warn: (text) => warnings.push(text) });
}

/** Logs metrics of steps, and ends the run. */
async function logged(mlflow: MlflowTracker, metrics: Record<number, Record<string, number>>, end: End = "finished") {
  for (const [step, values] of Object.entries(metrics)) mlflow.log(Number(step), values);
  await mlflow.end(end);
}
type End = Parameters<MlflowTracker["end"]>[0];

test("a run with its config, metrics and end arrives", async () => {
  await logged(tracker(), { 1: { "train/reward": 0.5, "time/total": 3.5 }, 2: { "train/reward": 0.6 } });
  assert.deepEqual([...server.experiments], [["forms", "1"]]);
  const run = server.runs.get("run1");
  assert.equal(server.runs.size, 1);
  assert.deepEqual([run?.name, run?.status, typeof run?.endTime], ["quickstart", "FINISHED", "number"]);
  const actual = run?.metrics.map(({ key, value, step }) => `${key} ${value} at ${step}`);
  assert.deepEqual(actual, ["train/reward 0.5 at 1", "time/total 3.5 at 1", "train/reward 0.6 at 2"]);
  const { long, ...params } = Object.fromEntries(run?.params ?? []);
  assert.deepEqual(params, { seed: "3", init_adapter: "null", "lora.targets": '["q_proj","k_proj"]' });
  assert.match(long ?? "", /^x{20}/);
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
  await logged(tracker({ dir }), { 1: { "train/reward": 0.5 } }, "failed");
  assert.equal(server.runs.get("run1")?.status, "FAILED");
  await logged(tracker({ dir, done: 1 }), { 2: { "train/reward": 0.6 } });
  assert.equal(server.runs.size, 1);
  assert.deepEqual([server.runs.get("run1")?.status, server.runs.get("run1")?.metrics.length], ["FINISHED", 2]);
  const note = JSON.parse(readFileSync(join(dir, "mlflow.json"), "utf8")) as Record<string, string>;
  assert.deepEqual(note, { uri: server.uri, experiment: "forms", run_id: "run1" });
  writeFileSync(join(dir, "mlflow.json"), "nonsense");
  await logged(tracker({ dir, done: 2 }), { 3: { "train/reward": 0.7 } });
  assert.equal(server.runs.size, 2);
});

test("values survive a server that fails for a while; the user is told once", async () => {
  server.fail(503, 2);
  await logged(tracker(), { 1: { a: 1 }, 2: { a: 2 } });
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
  await logged(mlflow, { 1: { a: 1 } });
  await logged(mlflow, { 2: { a: 2 } });
  assert.equal(server.requests, 1);
  const off = "mlflow is off for the rest of this run: GET experiments/get-by-name: HTTP 403, not now";
  assert.deepEqual(warnings, [off]);
});

test("credentials come from the environment, as MLflow's own client reads them, and are written nowhere", async () => {
  const dir = temporaryFolder("credentials");
  for (const [env, expected] of [
    [{}, undefined],
    [{ MLFLOW_TRACKING_TOKEN: "t0-secret" }, "Bearer t0-secret"],
    [{ MLFLOW_TRACKING_USERNAME: "ada", MLFLOW_TRACKING_PASSWORD: "secret" }, `Basic ${btoa("ada:secret")}`],
  ] as const) {
    server.authorizations.length = 0;
    await logged(tracker({ dir, env }), { 1: { a: 1 } });
    assert.deepEqual([...new Set(server.authorizations)], [expected]);
  }
  const files = readdirSync(dir).map((file) => readFileSync(join(dir, file), "utf8"));
  assert.ok(files.length > 0);
  assert.doesNotMatch(JSON.stringify([files, warnings, ...server.runs]), /secret/);
});

test("no problem shows the password of an address, wherever it was typed", async () => {
  const secret = "geheim";
  const path = join(temporaryFolder("mlflow-config"), "secret.yaml");
  const known = [`http://user:${secret}@host:5000`, `htp://user:${secret}@host`];
  const uris = [...known, `http://user:${secret}/${secret}@host`, `http://user:${"x".repeat(90)}${secret}@host`];
  for (const uri of uris) {
    writeFileSync(path, `model: models/tiny-refusion\ntracking: { mlflow: { uri: "${uri}", experiment: 3 } }\n`);
    const typed = [[], [`tracking.mlflow.uri=${uri}`], [`tracking.mlflow.urii=${uri}`], [`seed=${uri}`]];
    for (const overrides of typed)
      await assert.rejects(
        loadConfig(path, { command: "espo", overrides }),
        (error) =>
          error instanceof UserError && /mlflow/.test(error.message) && !/geheim|xxx/.test(error.message + error.hint),
        uri,
      );
  }
  const changed = configDifferences({ uri: uris[0] }, { uri: uris[1] });
  assert.deepEqual(changed, ['uri: "http://***@host:5000" -> "htp://***@host"']);
});
