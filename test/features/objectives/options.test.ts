import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import type { GroupEpisode } from "../../../src/rl/credit.js";
import type { Objective } from "../../../src/rl/objective.js";
import { objectiveKinds } from "../../../src/rl/objective-kinds.js";
import { idleOptions, type Setting } from "../../support/idle-options.js";
import { stepOf } from "../../support/objective-case.js";
import { cpuRuntime } from "../../support/temporary.js";

const runtime = await cpuRuntime();

const learningRates = (objective: Objective, options: unknown): unknown =>
  objective.parameters?.(options, { hiddenSize: 4 }).map(({ learningRateScale }) => learningRateScale);
const OWN_IS = (norm: string): Setting => ({ why: "a mean over these is the objective's own", same: [norm] });
const OWN_IS_BOTH: Setting = { why: "a ratio covers a response: both are its own", same: ["segment", "response"] };

/** An attempt at one part, which is right whether the whole succeeds or not. */
const attempt = (success: boolean): GroupEpisode => ({
  reward: 1,
  success,
  turns: [{ steps: 1, tokens: 1, parts: [{ name: "a", reward: 1, tokens: [0] }] }],
});

/** Settings by option, of every objective or of one. */
const SETTINGS: Readonly<Record<string, Setting>> = {
  adv_clip_max: { why: "advantages of four episodes are below 5", to: 0.2 },
  clip_range_low: { why: "null is clip_range", to: 0.05 },
  clip_range_high: { why: "null is clip_range", to: 0.05 },
  "flow-grpo.ratio_clamp": { why: "log-ratios here are below 1", to: 0.05 },
  "flow-grpo.turn_credit": { why: "parts have tokens of their own", beside: { ratio_level: "token" } },
  "flow-grpo.success_weight": {
    why: "parts alone take it, and the step here has none",
    beside: { ratio_level: "token", turn_credit: "part" },
    seen: (objective, options) => objective.credit([attempt(true), attempt(false)], options),
  },
  "flow-grpo.length_norm": OWN_IS("segment"),
  "grpo.length_norm": OWN_IS("segment"),
  "coupled-grpo.length_norm": OWN_IS("segment"),
  "just-grpo.length_norm": OWN_IS("response"),
  "espo.length_norm": OWN_IS_BOTH,
  "gdpo.length_norm": OWN_IS_BOTH,
  "gdpo.clip_range": { why: "ratios of a token here are within .1 of 1", to: 0.02 },
  "espo.noise_every": {
    why: "measures, and changes no update (train/noise)",
    seen: (objective, options) => objective.noiseEvery?.(options),
  },
  "mdpo.top_steps": { why: "a response here has four steps at most", to: 1 },
  "trace-rl.value_lr_scale": { why: "scales a step, not its gradient", seen: learningRates },
  "flowrl.head_lr_scale": { why: "scales a step, not its gradient", seen: learningRates },
};

for (const [name, objective] of await objectiveKinds()) {
  if (objective.learnsFrom === "rollouts")
    test(`${name}: every option changes a step, or is refused`, async () =>
      assert.deepEqual(await idleOptions(objective, SETTINGS, (options) => stepOf(runtime, objective, options)), []));
}

test("a cap of importance weights is refused where rollouts do not record what a ratio is of, unless a policy is older", async () => {
  const kinds = await objectiveKinds();
  const refused = (name: string, section: object = {}, config: object = {}): boolean => {
    const objective = kinds.get(name) as Objective;
    return objective.unread?.(objective.schema.parse(section), config)?.["objective.importance_cap"] !== undefined;
  };
  for (const name of ["espo", "gdpo", "grpo", "coupled-grpo"]) {
    assert.equal(refused(name), true, name);
    assert.equal(refused(name, {}, { distributed: { staleness: 1 } }), false, name);
  }
  for (const shrink of [1, 2]) assert.equal(refused("trace-rl", { shrink }), shrink === 2);
  const overrides = ["runtime.rollout_precision=int8", "objective.importance_cap=2"];
  await assert.rejects(
    loadConfig("configs/tiny/rl.yaml", { command: "espo", overrides }),
    /objective\.importance_cap .*espo does not read it: .* a rollout records/,
  );
});

test("a mean of one token is refused", async () => {
  const overrides = ["objective.reduction=mean"];
  const read = await loadConfig("configs/tiny/rl.yaml", { command: "flow-grpo", overrides });
  assert.equal(read.objective.reduction, "mean");
  const token = { command: "flow-grpo", overrides: [...overrides, "objective.ratio_level=token"] };
  const unread = /objective\.reduction .*flow-grpo does not read it: a ratio covers one token/;
  await assert.rejects(loadConfig("configs/tiny/rl.yaml", token), unread);
});

test("settings are of options that there are", async () => {
  const known = [...(await objectiveKinds())].flatMap(([name, { schema }]) =>
    Object.keys(schema.shape).flatMap((key) => [key, `${name}.${key}`]),
  );
  for (const key of Object.keys(SETTINGS)) assert.ok(known.includes(key), key);
});
