import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import type { StepLayout } from "../../../src/diffusion/layout/scorings.js";
import type { Trajectory } from "../../../src/diffusion/trajectory.js";
import type { LayoutContext } from "../../../src/rl/objective.js";
import { objective as flowGrpo } from "../../../src/rl/objectives/flow-grpo.js";
import { objectiveOptions } from "../../support/typed.js";

interface Steps extends Trajectory {
  readonly name: string;
  readonly steps: number;
}

/** Captures the layout that the objective asks of the sampler, with one named stream per trajectory. */
function asked(trajectories: readonly Steps[], section: object): Pick<StepLayout, "level" | "subset" | "reduction"> {
  let layout: Pick<StepLayout, "level" | "subset" | "reduction"> | undefined;
  const context: LayoutContext = {
    rngs: trajectories.map(({ name }) => Rng.named(1, name)),
    steps: (trajectory) => (trajectory as Steps).steps,
    stepTerms: (some, given) => {
      assert.equal(some, trajectories);
      layout = given;
      throw new Error("asked");
    },
    boundTerms: () => assert.fail("steps are no bound"),
    textTerms: () => assert.fail("steps are no text"),
  };
  assert.throws(() => flowGrpo.layout(trajectories, objectiveOptions(flowGrpo, section), context), /asked/);
  return layout as NonNullable<typeof layout>;
}

const some: readonly Steps[] = [
  { name: "a", steps: 9 },
  { name: "b", steps: 2 },
  { name: "c", steps: 9 },
];

test("all steps are laid out unless a number of them is asked for", () => {
  assert.deepEqual(asked(some, {}), { level: "step", reduction: "sum" });
  assert.deepEqual(asked(some, { ratio_level: "token", reduction: "mean" }), { level: "token", reduction: "mean" });
});

test("a random subset is ascending, without repeats, and never more than there are", () => {
  const { subset } = asked(some, { steps_per_update: 4 });
  const lengths = subset?.map((steps) => steps.length);
  assert.deepEqual(lengths, [4, 2, 4]);
  subset?.forEach((steps, i) => {
    const actual = [...new Set(steps)].sort((a, b) => a - b);
    assert.deepEqual(actual, steps);
    assert.ok(steps.every((step) => step >= 0 && step < (some[i] as Steps).steps));
  });
  assert.notDeepEqual(subset?.[0], subset?.[2], "two trajectories have draws of their own");
});

test("a trajectory's subset is its own stream's, whatever shares its micro-batch", () => {
  const { subset } = asked(some, { steps_per_update: 4 });
  const alone = some.map((trajectory) => asked([trajectory], { steps_per_update: 4 }).subset?.[0]);
  assert.deepEqual(subset, alone);
  assert.deepEqual(asked([...some].reverse(), { steps_per_update: 4 }).subset, [...alone].reverse());
});
