import assert from "node:assert/strict";
import { test } from "node:test";
import { clippedLoss } from "../../src/rl/clipped.js";
import { runLoss, type SegmentInputs } from "../support/loss-graph.js";
import { cpuRuntime } from "../support/temporary.js";

const runtime = await cpuRuntime();

type Options = Parameters<typeof clippedLoss>[1];
const OPTIONS: Options = { clip_range: 0.2, kl_coeff: 0.04, surrogate: "ppo" };

const run = (inputs: SegmentInputs, options: Options) =>
  runLoss(runtime, JSON.stringify(options), (i) => clippedLoss(i, options), inputs);

const inputs: SegmentInputs = {
  logProb: [-1, -1, -1, -1, -1, -1, -1],
  // the largest ratio differs from the inverse of the smallest
  old: [-1.1, -1.6, -1.5, -0.5, -0.5, 0, -0.9],
  reference: [-1.2, -0.4, -1, -15, 13, 0, -1],
  advantage: [1, 1, -1, 1, -1, 3, 1],
  weight: [0.2, 0.2, 0.2, 0.2, 0.2, 0, 0.2],
  units: [1, 1, 1, 1, 1, 1, 1],
};

test("loss, metrics and gradient agree with the formula", async () => {
  const { metrics, gradient } = await run(inputs, OPTIONS);
  const ratios = { ratio_mean: 0, ratio_max: 0, ratio_error: 0 };
  const expected = { loss: 0, kl: 0, ...ratios, clip_fraction: 0, kl_clamped_fraction: 0 };
  const slopes: number[] = [];
  inputs.logProb.forEach((l, i) => {
    const [old, reference] = [inputs.old[i] as number, inputs.reference[i] as number];
    const [a, w] = [inputs.advantage[i] as number, inputs.weight[i] as number];
    const rho = Math.exp(l - old);
    const clipped = Math.min(Math.max(rho, 0.8), 1.2);
    const d = Math.min(Math.max(reference - l, -10), 10);
    const k3 = Math.exp(d) - d - 1;
    expected.loss += w * (Math.max(-a * rho, -a * clipped) + 0.04 * k3);
    expected.kl += w * k3;
    expected.ratio_mean += w * rho;
    if (w > 0) {
      expected.ratio_max = Math.max(expected.ratio_max, rho);
      expected.ratio_error = Math.max(expected.ratio_error, Math.abs(rho - 1));
    }
    expected.clip_fraction += rho === clipped ? 0 : w;
    expected.kl_clamped_fraction += d === reference - l ? 0 : w;
    const bound = -a * clipped > -a * rho;
    slopes.push(w * ((bound ? 0 : -a * rho) + (d === reference - l ? 0.04 * (1 - Math.exp(d)) : 0)));
  });
  for (const [name, value] of Object.entries(expected)) {
    const off = Math.abs((metrics[name] as number) - value) / Math.max(1, Math.abs(value));
    assert.ok(off < 1e-5, `${name}: ${metrics[name]} against ${value}`);
  }
  slopes.forEach((slope, i) => {
    const off = Math.abs((gradient[i] as number) - slope);
    assert.ok(off < 1e-5, `d loss / d logProb ${i}: ${gradient[i]} against ${slope}`);
  });
  // the cases contain both an active clip and an active penalty
  const actual = slopes.map((s) => Math.abs(s) > 1e-3);
  assert.deepEqual(actual, [true, true, true, true, false, false, true]);
  assert.ok(expected.clip_fraction > 0.7 && expected.kl_clamped_fraction > 0.3);
});

test("on policy the ratio is 1 and the gradient is that of REINFORCE", async () => {
  const { metrics, gradient } = await run({ ...inputs, old: inputs.logProb, reference: inputs.logProb }, OPTIONS);
  assert.equal(metrics.ratio_error, 0);
  assert.equal(metrics.kl, 0);
  gradient.forEach((slope, i) => {
    assert.ok(Math.abs(slope + (inputs.weight[i] as number) * (inputs.advantage[i] as number)) < 1e-6);
  });
});

test("without a penalty the reference changes nothing", async () => {
  const options = { ...OPTIONS, kl_coeff: 0 };
  const a = await run(inputs, options);
  const b = await run({ ...inputs, reference: inputs.old }, options);
  assert.equal(a.metrics.loss, b.metrics.loss);
  assert.deepEqual(a.gradient, b.gradient);
});

test("each side of the ratio has a range of its own, clip_range where it names none", async () => {
  const some = { logProb: [-1, -1], old: [-1.3, -0.7], reference: [-1, -1], weight: [0.5, 0.5], units: [1, 1] };
  // the ratios are 1.35 and .74
  const clipped = async (advantage: number[], changes: object): Promise<number[]> =>
    (await run({ ...some, advantage }, { ...OPTIONS, kl_coeff: 0, ...changes })).gradient;
  const blocked = (gradient: readonly number[]): boolean[] => gradient.map((g) => g === 0);
  assert.deepEqual(blocked(await clipped([1, -1], {})), [true, true]);
  assert.deepEqual(blocked(await clipped([1, -1], { clip_range_high: 0.4 })), [false, true]);
  assert.deepEqual(blocked(await clipped([1, -1], { clip_range_low: 0.3 })), [true, false]);
});

test("a log-ratio beyond the clamp has the clamp's ratio and no gradient", async () => {
  const { metrics, gradient } = await run(inputs, { ...OPTIONS, clip_range: 0.9, kl_coeff: 0, ratio_clamp: 0.3 });
  assert.ok(Math.abs((metrics.ratio_max as number) - Math.exp(0.3)) < 1e-6);
  // the log-ratios are .1, .6, .5, -.5, -.5, a weight of 0, and -.1
  const actual = gradient.map((g) => g !== 0);
  assert.deepEqual(actual, [true, false, false, false, false, false, true]);
});

test("cispo: the gradient of every term, weighted by the clipped ratio", async () => {
  const { gradient } = await run(inputs, { ...OPTIONS, kl_coeff: 0, surrogate: "cispo" });
  inputs.logProb.forEach((l, i) => {
    const rho = Math.exp(l - (inputs.old[i] as number));
    const weight = Math.min(1.2, Math.max(0.8, rho));
    const expected = -(inputs.weight[i] as number) * (inputs.advantage[i] as number) * weight;
    assert.ok(Math.abs((gradient[i] as number) - expected) < 1e-6, `${i}: ${gradient[i]} for ${expected}`);
  });
});

test("the entropy bonus: less the weighted mean of the segments' entropies, and told", async () => {
  const plain = await run(inputs, OPTIONS);
  const bonus = await run(inputs, { ...OPTIONS, entropy_coeff: 0.3 });
  // the graph's stand-in for the entropy is -2 l
  const entropy = inputs.logProb.reduce((sum, l, i) => sum - 2 * l * (inputs.weight[i] as number), 0);
  assert.ok(Math.abs((bonus.metrics.entropy as number) - entropy) < 1e-6);
  assert.ok(Math.abs((bonus.metrics.loss as number) - ((plain.metrics.loss as number) - 0.3 * entropy)) < 1e-5);
  bonus.gradient.forEach((slope, i) => {
    const expected = (plain.gradient[i] as number) + 0.6 * (inputs.weight[i] as number);
    assert.ok(Math.abs(slope - expected) < 1e-5, `${i}: ${slope} for ${expected}`);
  });
});
