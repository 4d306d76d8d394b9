import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { loadConfig } from "../../../src/config/config.js";
import { packageRoot } from "../../../src/core/files.js";
import { train } from "../../../src/train/recipe.js";
import { callProgram } from "../../support/call-program.js";
import { ownFolder } from "../../support/own-modules.js";
import { trainOptions } from "../../support/train-options.js";

/** The rest of a config, by what is one's own; the tasks need no browser where none is asked for. */
const PAPER = "environment: { kind: paper }\nobjective: { kind: flow-grpo }";
const FREE = "plan: free\nsampler: { kind: unmask, prompt_length: 64, response_length: 64 }";
const REST: Readonly<Record<string, string>> = {
  environment: `objective: { kind: flow-grpo }\n${FREE.replace("plan: free\n", "")}`,
  objective: PAPER.replace(/\nobjective.*/, ""),
  reward: `objective: { kind: flow-grpo }\n${FREE}`,
  sampler: PAPER,
  site: `objective: { kind: flow-grpo }\n${FREE}`,
  tracker: PAPER,
};

describe("new", () => {
  const dir = ownFolder({});

  it("knows every example", () => {
    // one-run is a script of its own: no config names it
    const isExample = (file: string): boolean => file.endsWith(".mjs") && file !== "one-run.mjs";
    const examples = readdirSync(join(packageRoot(), "examples")).filter(isExample);
    assert.deepEqual(examples.map((file) => file.slice(0, -4)).sort(), Object.keys(REST).sort());
  });

  for (const [kind, rest] of Object.entries(REST))
    it(`writes a ${kind} that a config uses by the line that is printed`, async () => {
      const file = join("mine", `my-${kind}.mjs`);
      const { code, out, err } = await callProgram("train", dir, ["new", kind, file]);
      assert.equal(code, 0, err);
      const text = readFileSync(file, "utf8");
      const example = readFileSync(join(packageRoot(), "examples", `${kind}.mjs`), "utf8");
      assert.equal(text, example.replaceAll(`./examples/${kind}.mjs`, `./mine/my-${kind}.mjs`));
      assert.ok(text.includes(`./mine/my-${kind}.mjs`) && !text.includes("examples/"), text.split("\n")[0]);
      const model = rest.includes("paper") ? "tiny-refusion-template" : "tiny-refusion";
      const training = "training: { steps: 1, prompts_per_step: 1, group_size: 2, micro_batch: 2 }";
      writeFileSync(`${kind}.yaml`, `model: models/${model}\n${rest}\n${training}\nreport: { screenshots: 0 }\n${out}`);
      const config = await loadConfig(`${kind}.yaml`);
      const [[section, value]] = Object.entries(parse(out)) as [[string, unknown]];
      assert.ok(JSON.stringify((config as Record<string, unknown>)[section]).includes(`my-${kind}`), String(value));
      // library/examples.test.ts trains with the other examples
      if (kind !== "sampler") return;
      const options = trainOptions(config.objective.kind, `${kind}.yaml`, join(dir, `run-${kind}`), { dryRun: true });
      const { dryRun } = await train(config, options);
      assert.deepEqual([dryRun?.rollouts, dryRun?.faults], [2, 0]);
    });

  it("overwrites nothing, and takes no other name", async () => {
    writeFileSync("there.mjs", "mine");
    const there = await callProgram("train", dir, ["new", "reward", "there.mjs"]);
    assert.deepEqual([there.code, /exists already/.test(there.err)], [1, true]);
    assert.equal(readFileSync("there.mjs", "utf8"), "mine");
    const named = await callProgram("train", dir, ["new", "reward", "reward.yaml"]);
    assert.deepEqual([named.code, existsSync("reward.yaml")], [2, true]);
    const kind = await callProgram("train", dir, ["new", "rewards", "x.mjs"]);
    assert.deepEqual([kind.code, /Allowed choices are environment, objective/.test(kind.err)], [2, true]);
  });
});
