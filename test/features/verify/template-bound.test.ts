import assert from "node:assert/strict";
import { test } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { boundTerms, type MaskDraw } from "../../../src/diffusion/samplers/unmask/elbo.js";
import type { UnmaskOptions } from "../../../src/diffusion/samplers/unmask/options.js";
import type { UnmaskTrajectory } from "../../../src/diffusion/samplers/unmask/trajectory.js";
import { sampledModel } from "../../../src/engine/policy.js";
import { linearObjective } from "../../../src/features/verify/linear-objective.js";
import { Runtime } from "../../../src/onnx/session.js";
import { SMALL, streams } from "../../diffusion/samplers/unmask/fake-model.js";
import { goldenModel, readGolden, relativeError } from "../../support/golden.js";
import { assertGradients, goldenEngine } from "../../support/golden-engine.js";

const micro = readGolden("micro");
const golden = readGolden("template-bound");
const meta = golden.meta as typeof golden.meta & {
  readonly slot_size: number;
  readonly rooms: readonly number[];
  readonly draws: number;
};
const ids = (name: string): number[] => [...golden.ints(name)].map(Number);

for (const attention of ["causal", "bidirectional"] as const) {
  test(`${attention}: the bound of the values given the lines, and its gradient, are PyTorch's`, async () => {
    await using runtime = closing(await Runtime.open({ provider: "cpu", threads: 1 }));
    const changes = attention === "causal" ? {} : { architecture: "masked_lm", attention, qk_norm: true };
    const model = await goldenModel(micro, changes);
    const about = { ...sampledModel(model.config), attention };
    const engine = await goldenEngine(runtime, micro, [linearObjective, {}], { model, about });
    const [a = 0, b = 0] = meta.rooms;
    const [given0, given1, given2] = [0, 1, 2].map((i) => ids(`input.given.${i}`)) as [number[], number[], number[]];
    const trajectory: UnmaskTrajectory = {
      ...{ prompt: ids("input.prompt"), response: ids("input.response") },
      template: [given0, { name: "a", room: a }, given1, { name: "b", room: b }, given2],
      ...{ slotSize: meta.slot_size, responseLength: a + b, temperature: 1, rounds: [], ended: "eos" },
    };
    const draws = Array.from({ length: meta.draws }, (_, m): MaskDraw => {
      return { masked: ids(`input.masked.${m}`).map((flag) => flag === 1), order: ids(`input.order.${m}`) };
    });
    const sizes = { slotSize: meta.slot_size, promptLength: 8, responseLength: 16 };
    const options: UnmaskOptions = { ...SMALL, ...sizes, model: about };
    const layout = { batch: 1, lengthStep: 8, samples: meta.draws, coupled: true, rngs: streams(1, 1) };
    const batch = boundTerms([trajectory], options, layout, () => draws.shift() as MaskDraw);
    const { logProb: value } = await engine.score(batch, "policy");
    assert.ok(relativeError(value, golden.floats(`expect.${attention}`)) < 1e-5, `${value}`);
    const none = new Float32Array(batch.segments);
    await engine.accumulate(batch, { old: none, reference: none, advantage: none, weight: none });
    await assertGradients(golden, `${attention}.`, engine);
  });
}
