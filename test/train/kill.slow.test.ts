import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Rng } from "../../src/core/rng.js";
import { CliProcess, descendants, stillRunning } from "../support/cli-process.js";
import { differences, timelessFiles } from "../support/run-files.js";

/** Runs that are killed, and how often each is before it may end. */
const RUNS = 9;
const KILLS = 3;
const STEPS = 5;

const config = `
model: models/tiny-refusion
site: {kind: embedded, tier: starter}
sampler: {kind: unmask, rounds: 4, prompt_length: 56, response_length: 56}
training:
  {steps: ${STEPS}, prompts_per_step: 2, group_size: 3, rollout_batch: 8, micro_batch: 4, num_iterations: 2,
  learning_rate: 1.0e-3, schedule: linear}
evaluation: {splits: [val], episodes: 4, batch: 8, every: 2}
checkpoint: {every: 1, keep_last: 10}
runtime: {threads: 1, provider: cpu}
# a busy machine must not turn into faults, which would be other rollouts
browser: {action_timeout_s: 60, rollout_timeout_s: 240}
`;

/** When a process is killed: while a checkpoint (or best) is written, while a step learns, or at any time. */
type Moment =
  | { readonly at: "checkpoint" | "best"; readonly nth: number; readonly delay: number }
  | { readonly at: "update"; readonly nth: number; readonly delay: number }
  | { readonly at: "anytime"; readonly delay: number };

let root = "";
let reference: ReturnType<typeof timelessFiles>;
let duration = 0;
before(() => {
  root = mkdtempSync(join(tmpdir(), "kill-"));
  mkdirSync(join(root, "tmp"));
  writeFileSync(join(root, "run.yaml"), config);
});
after(() => rmSync(root, { recursive: true, force: true }));

function start(dir: string, extra: readonly string[] = []): CliProcess {
  const begun = existsSync(join(dir, "env.json"));
  const base = begun ? ["--resume"] : ["--config", join(root, "run.yaml")];
  // browser profiles of killed processes stay behind: let them lie where they are removed
  return new CliProcess(["flow-grpo", ...base, "--run-dir", dir, "-q", ...extra], {
    env: { TMPDIR: join(root, "tmp") },
  });
}

/** Runs `kill` at a moment: at once, so that what is being written stays half written. */
function atMoment(moment: Moment, dir: string, kill: () => void): () => void {
  const timers = new Set<NodeJS.Timeout>();
  const later = (): void => void timers.add(setTimeout(kill, moment.delay));
  if (moment.at === "anytime") {
    later();
    return () => timers.forEach(clearTimeout);
  }
  const pattern = {
    checkpoint: /^checkpoints\/step-\d+\.tmp-\d+$/,
    best: /^best\.tmp-\d+$/,
    update: /^rollouts\/step-\d+\.jsonl$/,
  }[moment.at];
  let seen = 0;
  const known = new Set<string>();
  const notice = (name: string): void => {
    if (!pattern.test(name) || known.has(name)) return;
    known.add(name);
    if (++seen === moment.nth) later();
  };
  // folders are made on the way: each is watched from the moment it appears
  const watchers: ReturnType<typeof watch>[] = [];
  const folders = new Set<string>();
  const follow = (prefix: string): void => {
    const folder = join(dir, prefix);
    if (folders.has(prefix) || !existsSync(folder)) return;
    folders.add(prefix);
    const look = (name: string): void => {
      notice(`${prefix}${name}`);
      if (prefix === "" && (name === "checkpoints" || name === "rollouts")) follow(`${name}/`);
    };
    watchers.push(watch(folder, (_, name) => name !== null && look(name)));
    for (const name of readdirSync(folder)) if (!known.has(`${prefix}${name}`) && prefix === "") look(name);
  };
  mkdirSync(join(dir, ".."), { recursive: true });
  const parent = watch(join(dir, ".."), () => follow(""));
  follow("");
  return () => {
    timers.forEach(clearTimeout);
    parent.close();
    for (const watcher of watchers) watcher.close();
  };
}

/** Moments that come while the run still has a step to do, nearly always: one that comes too late is no kill. */
function momentOf(rng: Rng, kind: number, kill: number): Moment {
  const random = (upTo: number): number => rng.uniform() * upTo;
  // only a run's first process surely has two steps left
  const nth = kill === 0 ? 1 + rng.int(2) : 1;
  if (kind === 0) return { at: "checkpoint", nth, delay: random(25) };
  if (kind === 1) return { at: "update", nth, delay: random(200) };
  return kill === 0 && rng.int(4) === 0
    ? { at: "best", nth: 1, delay: random(25) }
    : { at: "anytime", delay: random(duration / 2 ** (kill + 1)) };
}

test("a run that nothing interrupts", async () => {
  const began = performance.now();
  const whole = await start(join(root, "whole", "run")).ended;
  duration = performance.now() - began;
  assert.equal(whole.code, 0, whole.err);
  reference = timelessFiles(join(root, "whole", "run"));
  assert.equal([...reference.keys()].filter((name) => name.startsWith("metrics")).length, STEPS);
});

let killed = 0;
let halfCheckpoints = 0;
for (let run = 0; run < RUNS; run++) {
  test(`run ${run}, killed ${KILLS} times, ends in the bytes of one that was not`, async () => {
    const rng = Rng.named(run, "kill");
    const dir = join(root, `run-${run}`, "run");
    for (let kill = 0; kill < KILLS; kill++) {
      const moment = momentOf(rng, (run + kill) % 3, kill);
      const child = start(dir);
      let browser: string[] = [];
      const stop = atMoment(moment, dir, () => {
        browser = descendants(child.pid);
        child.killGroup();
      });
      const ending = await child.ended;
      stop();
      if (ending.signal === null) {
        // it was done before its moment came
        assert.equal(ending.code, 0, ending.err);
        continue;
      }
      killed++;
      const checkpoints = join(dir, "checkpoints");
      const aside = [dir, checkpoints].flatMap((d) => (existsSync(d) ? readdirSync(d) : []));
      halfCheckpoints += aside.filter((name) => /\.tmp-\d+$/.test(name)).length;
      await gone(browser);
      // what is complete is right already, before anything is resumed
      const complete = [...timelessFiles(dir)].filter(([name]) => /^\d+\//.test(name));
      assert.deepEqual(differences(reference, new Map(complete), "second"), [], JSON.stringify(moment));
    }
    const ending = await start(dir).ended;
    assert.equal(ending.code, 0, ending.err);
    assert.deepEqual(differences(reference, timelessFiles(dir)), []);
    const left = readdirSync(dir, { recursive: true, encoding: "utf8" });
    assert.deepEqual(
      left.filter((name) => /\.(tmp|old)-\d+|\.lock|\.jsonl?\.\d+/.test(name)),
      [],
      "nothing half written is left",
    );
  });
}

test("the kills were at least 20, and some of them inside a checkpoint's write", (t) => {
  t.diagnostic(`${killed} kills, ${halfCheckpoints} checkpoints half written`);
  assert.ok(killed >= 20, `${killed} kills`);
  assert.ok(halfCheckpoints >= 3, `${halfCheckpoints} half-written checkpoints`);
});

/** A browser notices that its driver is gone within moments. */
async function gone(processes: readonly string[]): Promise<void> {
  const limit = performance.now() + 10_000;
  while (stillRunning(processes).length > 0) {
    assert.ok(performance.now() < limit, `still running: ${stillRunning(processes).join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
