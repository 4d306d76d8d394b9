import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { packageRoot } from "../../src/core/files.js";
import { stepsIn } from "../../src/runs/run-directory.js";
import { CliProcess, processesNaming } from "../support/cli-process.js";
import { differences, timelessFiles } from "../support/run-files.js";
import { temporaryFolder } from "../support/temporary.js";
import { findRay, TestRay } from "./ray.js";

/** In the browser, on the tiny model. */
const CONFIG = `
model: models/tiny-refusion
site: { kind: embedded, tier: starter }
plan: free
sampler: { kind: unmask, rounds: 4, prompt_length: 56, response_length: 56 }
objective: { kind: flow-grpo }
training: { steps: 3, prompts_per_step: 2, group_size: 4, rollout_batch: 8, learning_rate: 1.0e-3 }
evaluation: { splits: [] }
checkpoint: { every: 1 }
tracking: { tensorboard: false }
report: { screenshots: 0 }
`;
/** Of the shipped jobs, as little as can be. */
const LITTLE = [
  ...["training.steps=1", "training.prompts_per_step=1", "evaluation.splits=[]", "report.screenshots=0"],
  "sampler.rounds=2",
];

const ray = findRay();

describe("jobs on a Ray head", { skip: "missing" in ray ? ray.missing : false }, () => {
  let head: TestRay;
  let dir: string;
  const path = (name: string): string => join(dir, name);
  /** Runs jobs/on-ray.sh to its end. */
  const submit = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const program = "program" in ray ? dirname(ray.program) : "";
    const child = spawn("sh", [path("jobs/on-ray.sh"), head.url, ...args], {
      env: { ...process.env, PATH: `${program}${delimiter}${process.env.PATH}`, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const job = { out: "", running: true };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (job.out += data));
    const ended = new Promise<number | null>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => {
        job.running = false;
        resolve(code);
      });
    });
    return { job, ended };
  };
  /** The process that trains a run. */
  const trainer = (name: string): number => {
    const found = processesNaming(path(name)).filter((pid) => {
      const [program = "", script = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return basename(program) === basename(process.execPath) && script.endsWith("cli/train.js");
    });
    assert.equal(found.length, 1, `${found.length} processes train in ${name}`);
    return found[0] as number;
  };

  before(async () => {
    if ("missing" in ray) return;
    dir = temporaryFolder("jobs");
    cpSync(join(packageRoot(), "jobs"), path("jobs"), { recursive: true });
    writeFileSync(path("jobs/mine.yaml"), CONFIG);
    head = await TestRay.start(ray.program);
  });
  after(async () => {
    await head?.stop();
    if (dir === undefined) return;
    // jobs are in process groups of their own, and may outlive the head
    for (const pid of processesNaming(dir)) process.kill(pid, "SIGKILL");
  });

  it("one that is killed is retried, and ends in the bytes of a local run; its log is followed", async () => {
    const command = ["train", "--config", path("jobs/mine.yaml"), "--run-dir", path("local"), "-q"];
    const local = await new CliProcess(command).ended;
    assert.equal(local.code, 0, local.err);
    const { job, ended } = submit([path("jobs/refusion-train.sh"), path("killed")], { CONFIG: "mine.yaml" });
    const folder = path("killed/checkpoints");
    while (!(existsSync(folder) && stepsIn(folder).some((at) => at >= 1))) {
      assert.ok(job.running, job.out);
      await sleep(20);
    }
    process.kill(trainer("killed"), "SIGKILL");
    assert.equal(await ended, 0, job.out);
    assert.match(job.out, /-try-1/);
    assert.match(job.out, /step 3/, "the log is followed");
    assert.deepEqual(differences(timelessFiles(path("local")), timelessFiles(path("killed"))), []);
  });

  it("one that fails at every try fails", async () => {
    const { job, ended } = submit([path("jobs/refusion-train.sh"), path("none")], { CONFIG: "no.yaml", RETRIES: "1" });
    assert.equal(await ended, 1, job.out);
    assert.match(job.out, /failed 2 times/);
  });

  it("both shipped jobs run: a training, and the evaluation of its run", async () => {
    for (const [command, settings] of Object.entries({ train: LITTLE, evaluate: ["evaluation.episodes=2"] })) {
      const { job, ended } = submit([path(`jobs/refusion-${command}.sh`), path("refusion"), ...settings]);
      assert.equal(await ended, 0, job.out);
    }
    assert.deepEqual(stepsIn(path("refusion/checkpoints")), [1]);
    assert.ok(existsSync(path("refusion/eval")));
  });
});
