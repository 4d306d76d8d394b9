import assert from "node:assert/strict";
import { test } from "node:test";
import type { LayoutContext } from "../../../src/rl/objective.js";
import { objective as espo } from "../../../src/rl/objectives/espo.js";
import { close } from "../../support/close.js";
import { runLoss, type SegmentInputs } from "../../support/loss-graph.js";
import { cpuRuntime } from "../../support/temporary.js";
import { objectiveOptions } from "../../support/typed.js";

const runtime = await cpuRuntime();

const units = [2, 4, 1, 5, 8, 3];
const logProb = [-2, -8, -3, -10, -16, -1];
/** Ratios per token; the last response is padding. */
const ratio = [1.5, 1.5, 0.5, 0.5, 1.3, 9];
const inputs: SegmentInputs = {
  units,
  logProb,
  old: logProb.map((v, i) => v - (units[i] as number) * Math.log(ratio[i] as number)),
  // logProb - reference = 2, -4, 0, 1, 4
  reference: [-4, -4, -3, -11, -20, 7],
  advantage: [1, -1, 1, -1, 1, 1],
  weight: [0.2, 0.2, 0.2, 0.2, 0.2, 0],
};

const run = (kl_coeff: number, changes: Partial<SegmentInputs> = {}) => {
  const options = objectiveOptions(espo, { kl_coeff, clip_range_low: 0.2, clip_range_high: 0.4 });
  return runLoss(runtime, `espo ${kl_coeff}`, (i) => espo.loss(i, options), { ...inputs, ...changes });
};

test("the loss by hand: one ratio a response, each side clipped by its own bound, the penalty per token", async () => {
  const { metrics, gradient } = await run(0.1);
  // ratios: 1.5 clipped to 1.4; 1.5 not clipped (A < 0); .5 not clipped; .5 clipped to .8 (A < 0); 1.3 in range
  const surrogate = 0.2 * (-1.4 + 1.5 - 0.5 + 0.8 - 1.3);
  // 4/2/2, 16/2/4, 0, 1/2/5, 16/2/8
  const k2 = 0.2 * (1 + 2 + 0 + 0.1 + 1);
  const expected = {
    loss: surrogate + 0.1 * k2,
    kl: k2,
    ratio_mean: 0.2 * (1.5 + 1.5 + 0.5 + 0.5 + 1.3),
    ratio_max: 1.5,
    ratio_error: 0.5,
    clip_fraction: 0.8,
    elbo_per_token: 0.2 * (-1 - 2 - 3 - 2 - 2),
  };
  assert.deepEqual(Object.keys(metrics).sort(), Object.keys(expected).sort());
  for (const [name, x] of Object.entries(expected)) close([metrics[name] as number], [x], 1e-5);
  // a clipped ratio has gradient 0; the penalty's gradient is .1 (logProb - reference) / tokens
  const slopes = [0 + 0.1, 1.5 / 4 - 0.1, -0.5, 0 + 0.02, -1.3 / 8 + 0.05, 0].map((x) => 0.2 * x);
  close(gradient, slopes, 1e-5);
});

test("cispo: the gradient of every response per token, weighted by its clipped ratio", async () => {
  const bounds = { clip_range_low: 0.2, clip_range_high: 0.4 };
  const options = objectiveOptions(espo, { kl_coeff: 0, ...bounds, surrogate: "cispo" });
  const { gradient } = await runLoss(runtime, "espo, cispo", (i) => espo.loss(i, options), inputs);
  const clipped = [1.4, 1.4, 0.8, 0.8, 1.3, 0];
  const expected = clipped.map((w, i) => (-0.2 * (inputs.advantage[i] as number) * w) / (units[i] as number));
  close(gradient, expected, 1e-5);
});

test("the bound's draws, the penalty and when noise is measured are the options'", () => {
  const options = objectiveOptions(espo, { kl_coeff: 0.25, noise_every: 7, mc_samples: 3, coupled: false });
  assert.deepEqual([espo.needs(options), espo.noiseEvery?.(options)], [{ reference: true }, 7]);
  assert.deepEqual(espo.needs({ ...options, kl_coeff: 0 }), { reference: false });
  const asked: unknown[] = [];
  const context: LayoutContext = {
    rngs: [],
    steps: () => assert.fail("a bound has no steps"),
    stepTerms: () => assert.fail("a bound has no steps"),
    textTerms: () => assert.fail("a bound is no text"),
    boundTerms: (trajectories, layout) => {
      asked.push(trajectories, layout);
      throw new Error("asked");
    },
  };
  const trajectories = [{}];
  assert.throws(() => espo.layout(trajectories, options, context), /asked/);
  assert.deepEqual(asked, [trajectories, { samples: 3, coupled: false }]);
});
