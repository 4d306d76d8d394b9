import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { begunRun, plannedRuns } from "../../../src/features/sweep/plan.js";
import { playSweep } from "../../../src/features/sweep/play.js";
import { callProgram } from "../../support/call-program.js";
import { stopAfter } from "../../support/stop-after.js";
import { temporaryFolder } from "../../support/temporary.js";

const CONFIG = `
model: models/tiny-refusion
runtime: { provider: cpu, threads: 1 }
environment: { kind: paper }
plan: free
sampler: { kind: unmask, rounds: 1, prompt_length: 56, response_length: 56 }
objective: { kind: flow-grpo }
training: { steps: 2, prompts_per_step: 2, group_size: 2, rollout_batch: 4 }
evaluation: { splits: [test], episodes: 4 }
checkpoint: { every: 1 }
report: { rollouts: 0, screenshots: 0 }
tracking: { tensorboard: false }
`;

describe("a sweep", () => {
  const dir = temporaryFolder("sweep");
  const file = join(dir, "c.yaml");
  writeFileSync(file, CONFIG);
  const out = join(dir, "out");
  const words = ["objective.kind=[flow-grpo,spg]", "training.learning_rate=0.01", "seed=5"];

  it("plans the product seed by seed; problems of any config are found before a run", async () => {
    const { runs } = await plannedRuns(file, [...words, "training.group_size=[2,4]"], { seeds: 2, out });
    assert.deepEqual(
      runs.map(({ seed, config }) => [seed, config.seed, config.objective.kind, config.training.group_size]),
      [5, 6].flatMap((seed) => ["flow-grpo", "spg"].flatMap((kind) => [2, 4].map((size) => [seed, seed, kind, size]))),
    );
    for (const [wrong, message] of [
      ["objective.kind=[flow-grpo,nope]", /nope/],
      ["seed=[1,2]", /A list of seeds is no setting/],
      ["training.steps=[]", /has no value/],
      ["evaluation.splits=[[]]", /evaluation.splits is empty/],
    ] as const)
      await assert.rejects(plannedRuns(file, [wrong], { seeds: 1, out }), message);
  });

  it("interrupted, keeps what is finished; called again, goes on; called once more, repeats no run", async () => {
    const { runs } = await plannedRuns(file, words, { seeds: 1, out });
    const said: string[] = [];
    const say = (text: string): void => void said.push(text);
    assert.deepEqual(await playSweep(runs, { file, signal: stopAfter(1), say }), []);
    assert.deepEqual(said, [`run 1 of 2: ${runs[0]?.dir}`]);

    const call = () => callProgram("train", dir, ["sweep", file, ...words, "--out", out]);
    const first = await call();
    assert.equal(first.code, 0, first.err);
    const resumed = /run 1 of 2: .* \(resumed\)\n {2}test: \d+ of \d+ forms whole.*run 2 of 2: [^\n]*=spg,seed=5\n/s;
    assert.match(first.err, resumed);
    assert.match(first.out, /^objective\.kind=spg +test +1 +0\.\d+ \[/m);
    const report = readFileSync(join(out, "report.html"), "utf8");
    assert.match(
      report,
      /<h1>2 runs<\/h1><\/header>\s+<section><h2>Settings<\/h2><p class="outcome">test: objective[^<]*reward \d\.\d{3}[\s\S]*against the first run[\s\S]*objective\.kind=spg, seed 5/,
    );
    assert.ok(existsSync(join(out, "sweep.json")));

    const second = await call();
    assert.equal(second.out, first.out);
    assert.doesNotMatch(second.err, /run \d of/);
    const other = await plannedRuns(file, [...words, "training.steps=3"], { seeds: 1, out });
    const begun = begunRun(other.runs[0] as (typeof runs)[number]);
    await assert.rejects(begun, /other settings:\n {2}training.steps: 2 -> 3/);
  });
});
