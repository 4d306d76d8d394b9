import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { callProgram } from "../support/call-program.js";
import { CliProcess } from "../support/cli-process.js";
import { differences, timelessFiles } from "../support/run-files.js";
import { smallModel } from "../support/small-model.js";
import { temporaryFolder } from "../support/temporary.js";

// kill.slow.test.ts kills reinforcement runs and their browsers at many points; this test needs no browser

const config = `
model: ${await smallModel()}
plan: free
site: {kind: embedded, sizes: {train: 4, val: 0, test: 0, heldout: 0}}
sampler: {kind: unmask, prompt_length: 56, response_length: 56}
objective: {batch_size: 4}
training: {steps: 4, learning_rate: 1.0e-3}
checkpoint: {every: 1, keep_last: 9}
runtime: {threads: 1, provider: cpu}
`;

describe("an ended process", async () => {
  const root = temporaryFolder("kill");
  const dir = (name: string): string => join(root, name);
  const start = (name: string, ...args: string[]): CliProcess =>
    new CliProcess(["sft", "--config", join(root, "run.yaml"), "--run-dir", dir(name), ...args]);
  const same = (name: string): void => assert.deepEqual(differences(reference, timelessFiles(dir(name))), []);

  writeFileSync(join(root, "run.yaml"), config);
  const whole = await start("whole").ended;
  assert.equal(whole.code, 0, whole.err);
  const reference = timelessFiles(dir("whole"));

  it("killed where a checkpoint follows, ends in the same bytes after a resume", async () => {
    const killed = start("killed");
    assert.ok(await killed.says(/step 2\/4/), killed.err);
    killed.killGroup();
    assert.equal((await killed.ended).signal, "SIGKILL");
    const changed = differences(reference, timelessFiles(dir("killed")), "second");
    assert.ok(
      changed.every((name) => name.startsWith("metrics")),
      String(changed),
    );
    const resumed = await start("killed", "--resume").ended;
    assert.equal(resumed.code, 0, resumed.err);
    same("killed");
    assert.ok(!existsSync(join(dir("killed"), ".lock")));
  });

  it("interrupted once, saves, exits 130 and says how to go on; that command ends in the same bytes", async () => {
    const child = start("interrupted");
    assert.ok(await child.says(/step 1\/4/), child.err);
    child.signal("SIGINT");
    const { code, err } = await child.ended;
    assert.equal(code, 130, err);
    const [, printed = ""] = /continue with:\n +(?:refusion-train|node \S+train\.js) (.*)/.exec(err) ?? [];
    assert.match(printed, /^sft --resume --run-dir /);
    const resumed = await new CliProcess(printed.split(" ")).ended;
    assert.equal(resumed.code, 0, resumed.err);
    same("interrupted");
  });

  it("refuses a resume with another config, and says what may change and how", async () => {
    const refused = (...args: string[]) => {
      const config = ["--config", join(root, "run.yaml"), "--run-dir", dir("interrupted")];
      return callProgram("train", root, ["sft", ...config, "--resume", ...args]);
    };
    const other = await refused("seed=5");
    assert.equal(other.code, 2);
    assert.match(other.err, /seed: 0 -> 5[\s\S]*next: start a new run/);
    writeFileSync(join(root, "run.yaml"), config.replace("1.0e-3", "1.0e-4"));
    const edited = await refused();
    writeFileSync(join(root, "run.yaml"), config);
    assert.equal(edited.code, 2);
    assert.match(edited.err, /training\.learning_rate: 0\.001 -> 0\.0001[\s\S]*next: leave --config out/);
    const longer = await start("interrupted", "--resume", "training.steps=5").ended;
    assert.equal(longer.code, 0, longer.err);
    assert.match(longer.err, /resumed with other settings: training\.steps: 4 -> 5/);
  });
});
