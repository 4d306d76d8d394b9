import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import type { BoundLayout } from "../../../src/diffusion/layout/scorings.js";
import { boundTerms } from "../../../src/diffusion/samplers/unmask/elbo.js";
import { objective as gdpo } from "../../../src/features/objectives/objectives/gdpo.js";
import type { LayoutContext } from "../../../src/rl/objective.js";
import { SMALL } from "../../diffusion/samplers/unmask/fake-model.js";
import { allOutcomes } from "../../support/outcomes.js";
import { plainTrajectory } from "../../support/plain-trajectory.js";
import { objectiveOptions } from "../../support/typed.js";

/** Captures the bound that the objective asks of the sampler. */
function asked(options: object): BoundLayout {
  let layout: BoundLayout | undefined;
  const refuse = (): never => assert.fail("only a bound");
  const context: LayoutContext = {
    rngs: [],
    steps: refuse,
    stepTerms: refuse,
    textTerms: refuse,
    boundTerms: (_, given) => {
      layout = given as BoundLayout;
      throw new Error("asked");
    },
  };
  assert.throws(() => gdpo.layout([], objectiveOptions(gdpo, options), context), /asked/);
  return layout as BoundLayout;
}
const nodes = (points: number) => asked({ points }).quadrature as NonNullable<BoundLayout["quadrature"]>;

test("every node has as many masks as the options say", () => {
  assert.deepEqual([asked({}).samples, asked({ mc_samples: 3 }).samples], [1, 3]);
});

for (const points of [1, 2, 3, 4]) {
  test(`${points} nodes integrate polynomials of degree ${2 * points - 1} over (0, 1) exactly, and none further`, () => {
    const error = (degree: number): number =>
      Math.abs(
        nodes(points).reduce((sum, { fraction, weight }) => sum + weight * fraction ** degree, 0) - 1 / (degree + 1),
      );
    for (let degree = 0; degree < 2 * points; degree++) assert.ok(error(degree) < 1e-12, `${degree}: ${error(degree)}`);
    assert.ok(error(2 * points) > 1e-6);
  });
}

test("over the draws of its masks every token has the weight 1: the estimate of a constant is the constant", () => {
  const trajectory = plainTrajectory([1, 0], [0, 1, 1, 0, 1, 2], 6);
  const options = { ...SMALL, responseLength: 6 };
  const layout = { batch: 1, lengthStep: 16, samples: 1, coupled: false };
  const totals = new Map<bigint, number>();
  for (const { fraction, weight } of nodes(3)) {
    const quadrature = [{ fraction, weight }];
    for (const { value: batch, probability } of allOutcomes((rng) =>
      boundTerms([trajectory], options, { ...layout, quadrature, rngs: [rng] }),
    )) {
      const positions = batch.inputs.position_ids?.data as BigInt64Array;
      const rows = batch.inputs.rows?.data as BigInt64Array;
      batch.coefficient.forEach((c, r) => {
        if (c === 0) return;
        const position = positions[Number(rows[r])] as bigint;
        totals.set(position, (totals.get(position) ?? 0) + c * probability);
      });
    }
  }
  assert.equal(totals.size, 6);
  for (const total of totals.values()) assert.ok(Math.abs(total - 1) < 1e-6, `${total}`);
});

test("floor(t U) units are masked, at least one", () => {
  const trajectory = plainTrajectory([1, 0], [0, 1, 1, 0, 1, 0, 1, 2], 8);
  const options = { ...SMALL, responseLength: 8 };
  const sizes = nodes(3).map(({ fraction, weight }) => {
    const layout = { batch: 1, lengthStep: 16, samples: 1, coupled: false, rngs: [Rng.named(0, "mask")] };
    const batch = boundTerms([trajectory], options, { ...layout, quadrature: [{ fraction, weight }] });
    return batch.coefficient.filter((c) => c !== 0).length / options.slotSize;
  });
  assert.deepEqual(sizes, [1, 2, 3]);
});
