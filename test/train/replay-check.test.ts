import assert from "node:assert/strict";
import { after, it } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { Rng } from "../../src/core/rng.js";
import type { Batch } from "../../src/diffusion/layout/batch.js";
import type { TokenTrajectory, Trajectory } from "../../src/diffusion/trajectory.js";
import { initialAdapter } from "../../src/engine/adapter.js";
import { openPolicy } from "../../src/engine/policy.js";
import { checkReplay } from "../../src/train/replay-check.js";
import { scoreHere } from "../../src/train/update.js";
import { userError } from "../support/user-error.js";

const config = await loadConfig("configs/tiny/quickstart.yaml", { command: "flow-grpo" });
const policy = await openPolicy(config, undefined);
await policy.engine.setParameters("policy", initialAdapter(config, policy));
const prompts = ["form: Contact\n Name | Ann\n\n", "form: Order\n City | Rome\n\n"].map((text) =>
  policy.startOf({ text }),
);
const rngs = prompts.map((_, i) => Rng.named(1, `rollout/${i}`));
const trajectories = await policy.sampler.rollout(policy.engine, prompts, policy.options, rngs);
after(() => policy.close());

it("what was sampled is scored the same", () => checkReplay(policy, trajectories, scoreHere(policy.engine)));

it("rollouts of two prompts of one length are compared, in the layout of a step", async () => {
  const layouts: unknown[] = [];
  const { stepTerms } = policy.sampler;
  /** Lays out as {@link stepTerms}; with shared prompts, every sequence reads the first one. */
  const confused: typeof stepTerms = (some, options, layout) => {
    layouts.push(layout.share);
    const [first] = some as readonly TokenTrajectory[];
    const all = layout.share === true ? some.map((one) => ({ ...one, prompt: first?.prompt })) : some;
    return stepTerms?.(all, options, layout) as Batch;
  };
  const broken = { ...policy, sampler: { ...policy.sampler, stepTerms: confused } };
  // four of one prompt, and behind them one of another
  const many = [...Array.from({ length: 4 }, () => trajectories[0] as Trajectory), trajectories[1] as Trajectory];
  await checkReplay(broken, many, scoreHere(policy.engine));
  const shared = checkReplay(broken, many, scoreHere(policy.engine), true);
  await assert.rejects(shared, /what is trained is not what acts/);
  assert.deepEqual(layouts, [false, true]);
});

it("a policy that scores otherwise than it sampled stops the run, with both numbers", async () => {
  const scored = scoreHere(policy.engine);
  const other: typeof scored = async (batches, key) =>
    (await scored(batches, key)).map((values) => values.map((value) => value - 0.1 * Math.max(1, Math.abs(value))));
  const both = /recorded the log-probability \S+ of a step, and scoring the same step gives/;
  await assert.rejects(checkReplay(policy, trajectories, other), userError(both, { hint: /config\.json/ }));
});
