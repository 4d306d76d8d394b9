import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RayJobs } from "../../../src/cli/submit/ray.js";
import { checkpointSteps } from "../../../src/runs/checkpoint.js";
import { CliProcess, type Ending, processesNaming } from "../../support/cli-process.js";
import { findRay, TestRay } from "../../support/ray.js";
import { differences, timelessFiles } from "../../support/run-files.js";

/** In the browser, on the tiny model. */
const CONFIG = `
model: models/tiny-refusion
site: { kind: embedded, tier: starter }
sampler: { kind: unmask, rounds: 4, prompt_length: 56, response_length: 56 }
objective: { kind: flow-grpo }
training: { steps: 3, prompts_per_step: 2, group_size: 4, rollout_batch: 8, learning_rate: 1.0e-3 }
evaluation: { splits: [] }
checkpoint: { every: 1 }
tracking: { tensorboard: false }
report: { screenshots: 0 }
`;
/** Of the shipped jobs, as little as can be. */
const LITTLE = ["training.steps=1", "training.prompts_per_step=1", "evaluation.splits=[]", "report.screenshots=0"];
const MODELS = { refusion: "sampler.rounds=2", fsdfm: "sampler.steps=2" };

const ray = findRay();

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it ended by itself
  }
}

describe("jobs on a Ray head", { skip: "missing" in ray ? ray.missing : false }, () => {
  let head: TestRay;
  let dir: string;
  const processes: CliProcess[] = [];
  const start = (...args: string[]): CliProcess => {
    const child = new CliProcess(args);
    processes.push(child);
    return child;
  };
  const submit = (...args: string[]): CliProcess => start("submit", "--ray", head.url, ...args);
  const path = (name: string): string => join(dir, name);
  const done = async (child: CliProcess): Promise<Ending> => {
    const ending = await child.ended;
    assert.equal(ending.code, 0, ending.out + ending.err);
    return ending;
  };
  /** Until a run has a checkpoint of a step. */
  const checkpoint = async (name: string, step: number, child: CliProcess): Promise<void> => {
    const folder = path(join(name, "checkpoints"));
    while (!(existsSync(folder) && checkpointSteps(folder).some((at) => at >= step))) {
      assert.ok(child.running, child.out + child.err);
      await sleep(20);
    }
  };
  /** The process that trains: what calls it names the run too. */
  const trainer = (name: string): number => {
    const found = processesNaming(path(name)).filter((pid) => {
      const [program = "", script = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return basename(program) === basename(process.execPath) && script.endsWith("cli/train.js");
    });
    const own = found.filter((pid) => processes.every((child) => child.pid !== pid));
    assert.equal(own.length, 1, `${own.length} processes train in ${name}`);
    return own[0] as number;
  };

  before(async () => {
    if ("missing" in ray) return;
    dir = mkdtempSync(join(tmpdir(), "submit-"));
    writeFileSync(join(dir, "mine.yaml"), CONFIG);
    head = await TestRay.start(ray.program);
  });
  after(async () => {
    await head?.stop();
    // jobs are in process groups of their own, and may outlive the head
    if (dir !== undefined) for (const pid of processesNaming(dir)) kill(pid);
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  afterEach(async () => {
    for (const child of processes) if (child.running) child.killGroup();
    await Promise.all(processes.map((child) => child.ended));
    processes.length = 0;
  });

  it("one that is killed is retried, and ends in the bytes of a local run; its log is followed", async () => {
    await done(start("train", "--config", path("mine.yaml"), "--run-dir", path("local"), "-q"));
    // relative: the config is sent along
    const child = new CliProcess(["submit", "--ray", head.url, "--config", "mine.yaml", "--run-dir", path("killed")], {
      cwd: dir,
    });
    processes.push(child);
    await checkpoint("killed", 1, child);
    process.kill(trainer("killed"), "SIGKILL");
    const { out, err } = await done(child);
    assert.match(err, /submitted mine-\w+-try-1\n[\s\S]*try-1 failed[\s\S]*submitted mine-\w+-try-2\n/);
    assert.match(out, /--resume/);
    assert.match(out, /step 3/, "the log is followed");
    assert.deepEqual(differences(timelessFiles(path("local")), timelessFiles(path("killed"))), []);
  });

  it("Ctrl-C leaves it running; with --stop it ends at its next step", async () => {
    const id = /\S+-try-1/;
    const looking = submit("--config", path("mine.yaml"), "--run-dir", path("long"), "training.steps=10000");
    await checkpoint("long", 1, looking);
    looking.signal("SIGINT");
    const left = await looking.ended;
    assert.equal(left.code, 130);
    assert.match(left.err, /goes on; look on again with:\n {2}.+ submit --ray \S+ --follow mine-\w+-try-1/);
    const [job = ""] = id.exec(left.err) ?? [];
    const jobs = new RayJobs(head.url);
    assert.equal((await jobs.status(job)).status, "RUNNING");

    const again = submit("--follow", job, "--stop");
    while (!/step +1/.test(again.out)) {
      assert.ok(again.running, again.err);
      await sleep(20);
    }
    again.signal("SIGINT");
    assert.equal((await again.ended).code, 130);
    assert.equal((await jobs.status(job)).status, "STOPPED");
  });

  it("those of jobs/ train and evaluate", async () => {
    for (const command of ["train", "evaluate"]) {
      const both = Object.entries(MODELS).map(([model, sampler]) => {
        const settings = command === "train" ? [sampler, ...LITTLE] : ["evaluation.episodes=2"];
        return submit("--job", `jobs/${model}-${command}.yaml`, "--run-dir", path(model), ...settings);
      });
      for (const child of both) await done(child);
    }
    for (const model of Object.keys(MODELS)) {
      assert.deepEqual(checkpointSteps(path(join(model, "checkpoints"))), [1]);
      assert.ok(existsSync(path(join(model, "eval"))));
    }
  });
});
