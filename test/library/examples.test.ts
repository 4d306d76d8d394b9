import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { openPolicy, type RunConfigInput, train } from "../../src/index.js";
import { readCheckpoint } from "../../src/runs/checkpoint.js";
import { readRollouts } from "../../src/runs/rollout-record.js";
import { RunDirectory } from "../../src/runs/run-directory.js";
import { temporaryFolder } from "../support/temporary.js";

const EXAMPLES = join(packageRoot(), "examples");
const example = (name: string): string => join(EXAMPLES, `${name}.mjs`);

/** Two steps of the tiny model. */
const CONFIG: RunConfigInput = {
  model: "models/tiny-refusion",
  plan: "free",
  objective: { kind: "flow-grpo" },
  sampler: { kind: "unmask", rounds: 4, prompt_length: 56, response_length: 56 },
  training: { steps: 2, prompts_per_step: 2, group_size: 4, learning_rate: 1e-3 },
  evaluation: { splits: ["val"], episodes: 2 },
  runtime: { provider: "cpu", threads: 1 },
  report: { screenshots: 0 },
};

describe("examples of a user's own modules", () => {
  const root = temporaryFolder("examples");
  const run = async (name: string, own: Record<string, unknown>): Promise<RunDirectory> => {
    const { runDir, steps } = await train({ ...CONFIG, ...own }, { runDir: join(root, name) });
    assert.equal(steps, 2);
    return RunDirectory.open(runDir);
  };

  it("are short: none has more than 60 lines, a whole run no more than 150", () => {
    for (const file of readdirSync(EXAMPLES)) {
      const most = file === "one-run.mjs" ? 150 : 60;
      assert.ok(readFileSync(join(EXAMPLES, file), "utf8").split("\n").length <= most + 1, file);
    }
  });

  it("a run as one script trains on the library alone; what it saved loads, and answers", async (t) => {
    const folder = join(root, "one-run");
    const sizes = ["training.steps=2", "training.prompts_per_step=2", "training.group_size=4", "evaluation.episodes=4"];
    const output = execFileSync(process.execPath, [example("one-run"), folder, ...sizes], { encoding: "utf8" });
    const rewards = [...output.matchAll(/reward (\S+?)(?:,|$)/gm)].map(([, reward]) => Number(reward));
    assert.equal(rewards.length, 4, output);
    for (const reward of rewards) assert.ok(reward >= 0 && reward <= 1, output);
    const { adapter, step } = await readCheckpoint(folder);
    assert.equal(step, 2);
    const moved = [...(adapter?.tensors ?? [])].filter(([name]) => name.includes("lora_B"));
    assert.ok(moved.some(([, { data }]) => (data as Float32Array).some((x) => x !== 0)));
    const policy = await openPolicy({ config: { model: CONFIG.model, plan: "free", init_adapter: folder } });
    t.after(() => policy.close());
    const [answer] = await policy.answer([{ text: "form: Newsletter\n" }]);
    assert.ok((answer ?? "").length > 0);
  });

  it("an objective trains, with metrics of its own", async () => {
    const site = { kind: "embedded", sizes: { train: 2, val: 1, test: 0, heldout: 0 } };
    const directory = await run("objective", { objective: { kind: example("objective") }, site });
    const [line] = readFileSync(directory.metrics, "utf8").trim().split("\n");
    const metrics = JSON.parse(line ?? "") as Record<string, number | null>;
    assert.ok(typeof metrics.log_probability === "number" && metrics.log_probability < 0);
    assert.equal(metrics.ratio_mean, null, "it has no ratio");
  });

  it("an environment of three turns trains without a browser, and a tracker gets every metric", async () => {
    const tracking = { [example("tracker")]: true, tensorboard: false };
    const directory = await run("environment", { environment: { kind: example("environment") }, tracking });
    assert.match(readFileSync(join(directory.dir, "metrics.csv"), "utf8"), /^2,train\/reward,[\d.]+$/m);
    assert.ok(!existsSync(join(directory.dir, "tensorboard")));
    const records = readRollouts(directory.rollouts(2));
    assert.equal(records.length, 8);
    for (const { turns, reward } of records) {
      assert.equal(turns.length, 3);
      const mean = turns.reduce((sum, turn) => sum + (turn.reward as number), 0) / 3;
      assert.ok(Math.abs(mean - (reward as number)) < 1e-12);
    }
  });

  it("configs of an environment and a sampler run as printed", async () => {
    const overrides = ["runtime.provider=cpu", "runtime.threads=1", "report.screenshots=0"];
    const few = ["training.steps=2", "evaluation.episodes=4", ...overrides];
    for (const name of ["environment", "sampler"]) {
      const config = join("examples", `${name}.yaml`);
      const { steps } = await train(config, { runDir: join(root, `${name}-yaml`), overrides: few });
      assert.equal(steps, 2);
    }
  });

  it("what a rank of one's own gives is checked", async () => {
    const own = join(root, "nan.mjs");
    const text = readFileSync(example("sampler"), "utf8").replace("top - top2", "Number.NaN");
    writeFileSync(own, text);
    const overrides = [`sampler.kind=${own}`, "training.steps=1", "evaluation.episodes=2"];
    const trained = train("examples/sampler.yaml", { runDir: join(root, "nan"), overrides });
    await assert.rejects(trained, /nan\.mjs:\d+: rank gave what it may not/);
  });

  it("a site serves forms of its own, and a reward scores what the server received", async () => {
    const directory = await run("site", { site: { kind: example("site") }, reward: example("reward") });
    for (const { form, fault, reward, success, metrics } of readRollouts(directory.rollouts(1))) {
      assert.deepEqual([form, fault], ["newsletter", null]);
      assert.equal(reward, success ? 1 : 0.2 * (metrics?.field_accuracy ?? Number.NaN));
    }
  });
});
