import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type RunConfigInput, train } from "../../src/library/programs.js";
import { readMetrics } from "../../src/runs/metrics.js";
import { readRollouts } from "../../src/runs/rollout-record.js";
import { ownFolder } from "../support/own-modules.js";
import { smallModel } from "../support/small-model.js";

/** An environment whose form `flat` gives every answer the same reward. */
const ENVIRONMENT = `
import { defineEnvironment } from "refusion-train";
import { z } from "zod";

export const environment = defineEnvironment({
  schema: z.strictObject({ forms: z.array(z.string()).default(["flat", "varied"]).describe("of the tasks") }),
  open: async ({ environment: { forms } }) => ({
    name: "flat",
    notes: [],
    tasks: forms.map((form, i) => ({ id: \`flat/train/\${i}\`, split: "train", form })),
    splitHash: () => "flat",
    start: async () => undefined,
    started: true,
    async play({ form }, act) {
      const { text } = await act({ text: \`form: \${form}\\n\\n\` });
      const sum = [...text].reduce((n, letter) => n + letter.codePointAt(0), 0);
      return { reward: form === "flat" ? 0.5 : (sum % 8) / 7, success: false, metrics: {}, detail: {} };
    },
    fixedPolicies: {},
    close: async () => undefined,
  }),
});
`;

const model = await smallModel();
const config = (kind: string, forms: readonly string[]): RunConfigInput => ({
  name: kind,
  model,
  runtime: { provider: "cpu", threads: 1 },
  environment: { kind: "./environment.mjs", forms },
  sampler: { kind: "unmask", rounds: 2, prompt_length: 16, response_length: 16, temperature: 2 },
  objective: { kind },
  training: { steps: 2, prompts_per_step: 2, group_size: 4, rollout_batch: 8, learning_rate: 0.01 },
  evaluation: { splits: [] },
  checkpoint: { every: 0 },
  report: { rollouts: 0, screenshots: 0 },
});

describe("flowrl, end to end, where a group's rewards are all equal", () => {
  const dir = ownFolder({ "environment.mjs": ENVIRONMENT });
  const run = async (kind: string, name: string, forms = ["flat", "varied"]) => {
    await train(config(kind, forms), { runDir: join(dir, name) });
    return readMetrics(join(dir, name, "metrics.jsonl"));
  };

  it("learns from it with an advantage of 0, where flow-grpo leaves it out", async () => {
    const [matched, maximised] = [await run("flowrl", "flowrl"), await run("flow-grpo", "flow-grpo")];
    // the rollouts of the first step are equal
    const records = (name: string) => readRollouts(join(dir, name, "rollouts", "step-000001.jsonl"));
    const given = (name: string) =>
      records(name).map(({ form, advantage, turns }) => [form, advantage === null, turns[0]?.response] as const);
    const responses = (name: string) => given(name).map(([form, , response]) => [form, response]);
    assert.deepEqual(responses("flowrl"), responses("flow-grpo"));
    assert.ok(given("flowrl").every(([, leftOut]) => !leftOut));
    for (const [form, leftOut] of given("flow-grpo")) assert.equal(leftOut, form === "flat");
    for (const { form, advantage } of records("flowrl")) if (form === "flat") assert.equal(advantage, 0);
    assert.ok((matched[0]?.tokens as number) > (maximised[0]?.tokens as number));
    assert.equal(matched[0]?.frac_reward_zero_std, 0);
    // the partition function begins at 0 and is learned
    assert.equal(matched[0]?.extra?.log_z, 0);
    assert.ok(Math.abs(matched[1]?.extra?.log_z as number) > 1e-4);
    for (const { loss, grad_norm } of matched) assert.ok((loss as number) > 0 && (grad_norm as number) > 0);
  });

  it("stays where it is where every group is one: there the reference is the answer, and log Z is 0", async () => {
    for (const { loss, kl, grad_norm, extra } of await run("flowrl", "all-flat", ["flat", "flat"])) {
      for (const value of [loss, kl, grad_norm, extra?.log_z]) assert.ok(Math.abs(value as number) < 1e-3, `${value}`);
      assert.equal(extra?.skipped_steps, 0);
    }
  });
});
