import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import type { StepLayout } from "../../../src/diffusion/layout/scorings.js";
import type { JumpOptions } from "../../../src/features/fsdfm/jump/options.js";
import { sampler as jump } from "../../../src/features/fsdfm/samplers/jump.js";
import { objective as flowRl } from "../../../src/features/objectives/objectives/flowrl.js";
import type { GroupEpisode } from "../../../src/rl/credit.js";
import type { LayoutContext } from "../../../src/rl/objective.js";
import { prompts, streams } from "../../diffusion/samplers/unmask/fake-model.js";
import { having, objectiveOptions, only } from "../../support/typed.js";
import { FakeFlow, SMALL } from "../fsdfm/jump/reference.js";

const options = objectiveOptions(flowRl);
const group = (...rewards: (number | null)[]): GroupEpisode[] =>
  rewards.map((reward) => ({ reward, turns: [{ steps: 3 }, { steps: 2 }] }));

test("groups of equal rewards train log Z with no advantage, also a group of one", () => {
  assert.deepEqual(flowRl.credit(group(0.5, 0.5, null), options), [[0, 0], [0, 0], null]);
  assert.deepEqual(flowRl.credit(group(0.5), options), [[0, 0]]);
});

test("other groups have their normalised rewards, every turn the same, clipped", () => {
  const credit = flowRl.credit(group(1, 0, null, 0.5), options) as number[][];
  assert.equal(credit[2], null);
  assert.ok(Math.abs((credit[0]?.[0] as number) + (credit[1]?.[0] as number)) < 1e-6);
  assert.equal(credit[0]?.[0], credit[0]?.[1]);
  const clipped = flowRl.credit(group(1, 0), { ...options, adv_clip_max: 0.1 });
  assert.deepEqual(clipped.flat(), [0.1, 0.1, -0.1, -0.1]);
});

test("log pi is divided by the response's length, whatever the number of draws that made it", async () => {
  const sampling: JumpOptions = { ...SMALL, steps: 4, responseLength: 5 };
  const { stepTerms, rollout } = having(jump, "stepTerms");
  const trajectories = await rollout(new FakeFlow(3), prompts(12, 3, 4), sampling, streams(12, 5));
  const lengths = trajectories.map(({ response }) => response.length);
  assert.ok(new Set(lengths).size > 2, `${lengths}`);
  const context = only<LayoutContext>({
    stepTerms: (_: unknown, layout: StepLayout) =>
      stepTerms(trajectories, sampling, { ...layout, batch: 13, lengthStep: 1 }),
  });
  const { units, segment, coefficient } = flowRl.layout(trajectories, options, context);
  assert.deepEqual([...units], [...lengths, 1]);
  // log pi covers every token that was drawn
  assert.deepEqual([segment.filter((s) => s === 0n).length >= 20, coefficient.reduce((a, x) => a + x, 0)], [true, 240]);
});

test("its head is a group of parameters without a reference, whose last layer begins at 0", () => {
  const [head, ...none] = flowRl.parameters?.({ ...options, head_width: 4, head_lr_scale: 3 }, { hiddenSize: 6 }) ?? [];
  assert.deepEqual(none, []);
  assert.deepEqual([head?.name, head?.learningRateScale, head?.inReference ?? false], ["log_z", 3, false]);
  const fresh = head?.initial?.(Rng.named(1, "head"));
  assert.deepEqual([...(fresh?.keys() ?? [])].sort(), head?.parameters.map(({ name }) => name).sort());
  const values = (name: string): number[] => [...((fresh?.get(name)?.data ?? []) as Float32Array)];
  assert.deepEqual(values("log_z.2.weight"), [0, 0, 0, 0]);
  assert.deepEqual(values("log_z.0.norm"), [1, 1, 1, 1]);
  assert.ok(values("log_z.0.weight").every((x) => Math.abs(x) <= 1 / Math.sqrt(6)));
  assert.ok(new Set(values("log_z.0.weight")).size > 12);
});
