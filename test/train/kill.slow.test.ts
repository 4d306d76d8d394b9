import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it, test } from "node:test";
import { Rng } from "../../src/core/rng.js";
import { CliProcess, processesNaming } from "../support/cli-process.js";
import type { Death } from "../support/die-in-write.js";
import { differences, timelessFiles } from "../support/run-files.js";
import { temporaryFolder } from "../support/temporary.js";

/** Number of runs at once: those in a browser wait for it half of the time. */
const AT_ONCE = 2;
/** Number of times that a run is killed before it may end. */
const KILLS = 5;
const STEPS = 5;

/** A command, its config and the number of its runs that are killed. */
interface Case {
  readonly objective: string;
  readonly runs: number;
  /** Of the first start; a resumed run reads it from its folder. */
  readonly config: string;
}

const common = `
model: models/tiny-refusion
plan: free
sampler: {kind: unmask, rounds: 4, prompt_length: 56, response_length: 56}
training:
  {steps: ${STEPS}, prompts_per_step: 2, group_size: 3, rollout_batch: 8, micro_batch: 4, num_iterations: 2,
  learning_rate: 1.0e-3, schedule: linear}
checkpoint: {every: 1, keep_last: 10}
runtime: {threads: 1, provider: cpu}
`;
const evaluated = "evaluation: {splits: [val], episodes: 4, batch: 8, every: 2}\n";
// a busy machine must not turn into faults, which would be other rollouts
const inBrowser = "site: {kind: embedded}\nbrowser: {action_timeout_s: 60, rollout_timeout_s: 240}\n";

const CASES: Readonly<Record<string, Case>> = {
  browser: { objective: "flow-grpo", runs: 1, config: common + inBrowser + evaluated },
  paper: { objective: "espo", runs: 2, config: `${common}environment: {kind: paper}\n${evaluated}` },
  // trains on the rollouts that the first case recorded
  recorded: { objective: "espo", runs: 1, config: `${common}${inBrowser}evaluation: {splits: [], every: 0}\n` },
};

/** Pattern of half-written checkpoints and of a half-written `best/`. */
const CHECKPOINT = "/(checkpoints/step-[0-9]+|best)[.]tmp-[0-9]+";
/** Upper bound on the calls that write one checkpoint. */
const CALLS = 100;
/** Pattern of the rollout files, which a step writes before it learns. */
const ROLLOUTS = "/rollouts/step-[0-9]+[.]jsonl";

/** The moment of a kill: during or after a write, or a number of milliseconds after the start. */
type Moment = Death | number;

const root = temporaryFolder("kill");
for (const [name, { config }] of Object.entries(CASES)) writeFileSync(join(root, `${name}.yaml`), config);

/** The folder for temporary files of a run: killed processes leave browser profiles behind. */
const leftBy = (dir: string): string => `${dir}-tmp`;

function start(name: string, dir: string, moment: Moment = 0): CliProcess {
  const { objective } = CASES[name] as Case;
  const begun = existsSync(join(dir, "env.json"));
  const recorded = name === "recorded" ? ["--rollouts", join(root, "browser", "whole")] : [];
  const base = begun ? ["--resume"] : ["--config", join(root, `${name}.yaml`), ...recorded];
  mkdirSync(leftBy(dir), { recursive: true });
  const preload = new URL("../support/die-in-write.js", import.meta.url).href;
  const dying = { NODE_OPTIONS: `--import ${preload}`, DIE_IN_WRITE: JSON.stringify(moment) };
  const env = { TMPDIR: leftBy(dir), ...(typeof moment === "number" ? {} : dying) };
  return new CliProcess([objective, ...base, "--run-dir", dir, "-q"], { env });
}

/** Draws a moment that usually comes while the run has a step left; a moment after the run's end kills nothing. */
function momentOf(rng: Rng, kind: number, kill: number, duration: number): Moment {
  const random = (upTo: number): number => rng.uniform() * upTo;
  // only the first process of a run is certain to have two steps left
  const steps = kill === 0 ? 2 : 1;
  if (kind === 0) return { path: CHECKPOINT, nth: 1 + rng.int(steps * CALLS) };
  if (kind === 1) return { path: ROLLOUTS, nth: 1 + rng.int(steps), delay: random(200) };
  return random((duration * 0.3) / (kill + 1));
}

let killed = 0;
let halfCheckpoints = 0;
for (const [name, { runs }] of Object.entries(CASES))
  describe(name, { concurrency: AT_ONCE }, () => {
    let reference: ReturnType<typeof timelessFiles>;
    let duration = 0;
    before(async () => {
      const dir = join(root, name, "whole");
      const began = performance.now();
      const whole = await start(name, dir).ended;
      duration = performance.now() - began;
      assert.equal(whole.code, 0, whole.err);
      reference = timelessFiles(dir);
      assert.equal([...reference.keys()].filter((file) => file.startsWith("metrics")).length, STEPS);
    });

    for (let run = 0; run < runs; run++) {
      it(`run ${run}, killed ${KILLS} times, ends in the bytes of one that was not`, async () => {
        const rng = Rng.named(run, "kill");
        const dir = join(root, name, `run-${run}`);
        for (let kill = 0; kill < KILLS; kill++) {
          const moment = momentOf(rng, (2 * run + kill) % 3, kill, duration);
          const child = start(name, dir, moment);
          const timer = typeof moment === "number" ? setTimeout(() => child.killGroup(), moment) : undefined;
          const ending = await child.ended;
          clearTimeout(timer);
          if (ending.signal === null) {
            // the run ended before the moment of the kill
            assert.equal(ending.code, 0, ending.err);
            continue;
          }
          killed++;
          const checkpoints = join(dir, "checkpoints");
          const aside = [dir, checkpoints].flatMap((d) => (existsSync(d) ? readdirSync(d) : []));
          halfCheckpoints += aside.filter((file) => /\.tmp-\d+$/.test(file)).length;
          await browsersGone(dir);
          // complete files are correct before the run is resumed
          const complete = [...timelessFiles(dir)].filter(([file]) => /^\d+\//.test(file));
          assert.deepEqual(differences(reference, new Map(complete), "second"), [], JSON.stringify(moment));
        }
        const ending = await start(name, dir).ended;
        assert.equal(ending.code, 0, ending.err);
        assert.deepEqual(differences(reference, timelessFiles(dir)), []);
        const left = readdirSync(dir, { recursive: true, encoding: "utf8" });
        const half = left.filter((file) => /\.(tmp|old)-\d+|\.lock|\.jsonl?\.\d+/.test(file));
        assert.deepEqual(half, [], "nothing half written is left");
      });
    }
  });

test("the kills were at least 16 of 20, and at least 6 of them inside a checkpoint's write", (t) => {
  t.diagnostic(`${killed} kills, ${halfCheckpoints} checkpoints half written`);
  assert.ok(killed >= 16, `${killed} kills`);
  assert.ok(halfCheckpoints >= 6, `${halfCheckpoints} half-written checkpoints`);
});

/** Waits until the browsers of a killed run have ended. Works on Linux only; elsewhere no process is found. */
async function browsersGone(dir: string): Promise<void> {
  const limit = performance.now() + 10_000;
  for (let running = processesNaming(leftBy(dir)); running.length > 0; ) {
    assert.ok(performance.now() < limit, `still running: ${running.join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running = processesNaming(leftBy(dir));
  }
}
