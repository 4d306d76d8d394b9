import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import {
  drawHalves,
  GradientNoise,
  type GradientSample,
  gradientSample,
  type Halves,
} from "../../../src/train/noise/gradient-noise.js";
import type { Group } from "../../../src/train/rollouts/groups.js";

const WIDTH = 8;
const DRAWS = 1500;
const ROLLOUTS = 24;

/** Draws steps of n1 + n2 groups with gradients G + noise of standard deviation `sigma` in each direction. */
function synthetic(n1: number, n2: number, signal: number, sigma: number): GradientSample[] {
  const rng = Rng.named(3, `${n1}/${n2}`);
  const truth = Float64Array.from({ length: WIDTH }, () => Math.sqrt(signal / WIDTH));
  return Array.from({ length: DRAWS }, () => {
    const sum = (groups: number): number[] =>
      [...truth].map((x) => (groups * x + Math.sqrt(groups) * sigma * rng.normal()) / (n1 + n2));
    const [a, b] = [sum(n1), sum(n2)];
    // two tensors, since an adapter has several
    const tensors = (xs: readonly number[]) =>
      new Map([xs.slice(0, 3), xs.slice(3)].map((some, i) => [String(i), { data: Float32Array.from(some) }]));
    const both = a.map((x, i) => x + (b[i] as number));
    const sample = gradientSample(tensors(a), tensors(both), [n1, n2], ROLLOUTS);
    assert.ok(sample !== null);
    return sample;
  });
}

const mean = (xs: readonly number[]): number => xs.reduce((a, x) => a + x, 0) / xs.length;

describe("the noise of a gradient, from two halves", () => {
  for (const [n1, n2] of ["33", "32", "11", "51"].map((sizes) => [...sizes].map(Number) as [number, number])) {
    it(`is estimated without bias from ${n1} and ${n2} groups`, () => {
      const sigma = 0.5;
      const noise = (WIDTH * sigma ** 2) / (n1 + n2);
      for (const signal of [0, 0.5, 4]) {
        const samples = synthetic(n1, n2, signal, sigma);
        const close = (values: number[], expected: number, what: string): void => {
          const error = Math.sqrt(mean(values.map((x) => (x - mean(values)) ** 2)) / DRAWS);
          const off = Math.abs(mean(values) - expected);
          assert.ok(off < 4 * error, `${what}: ${mean(values)} for ${expected} +- ${error}`);
        };
        const signals = samples.map((s) => s.signal);
        close(signals, signal, "signal");
        const squares = samples.map((s) => s.square);
        close(squares, signal + noise, "square");
      }
    });
  }

  it("is a scale in rollouts and a share of |g|^2, as both are without estimation", () => {
    for (const signal of [0.2, 1, 20]) {
      const noise = (WIDTH * 0.25) / 6;
      const running = new GradientNoise();
      for (const sample of synthetic(3, 3, signal, 0.5)) running.add(sample);
      const { fraction, scale } = running;
      assert.ok(fraction !== null && scale !== null);
      assert.ok(Math.abs(fraction - noise / (noise + signal)) < 0.1, `${fraction} at ${signal}`);
      assert.ok(Math.abs(Math.log(scale / ((ROLLOUTS * noise) / signal))) < 0.5, `${scale} at ${signal}`);
    }
  });

  it("has halves that agree as much as signal and noise say: 1 without noise", () => {
    assert.ok(Math.abs(mean(synthetic(3, 3, 0, 0.5).map((s) => s.agreement))) < 0.01);
    assert.ok(synthetic(3, 2, 1, 0).every((s) => Math.abs(s.agreement - 1) < 1e-6));
    assert.ok(Math.abs(mean(synthetic(3, 3, 4, 0.5).map((s) => s.agreement)) - 4 / (4 + (WIDTH * 0.25) / 3)) < 0.03);
  });

  it("has no scale while the signal is not above 0, and no number of nothing", () => {
    const running = new GradientNoise();
    assert.deepEqual([running.fraction, running.scale], [null, null]);
    running.add({ agreement: -0.5, square: 2, signal: -1, rollouts: 8 });
    assert.deepEqual([running.fraction, running.scale], [1.5, null]);
    running.add({ agreement: 0.5, square: 2, signal: 1.98, rollouts: 8 });
    assert.ok((running.scale as number) > 0);
    const zero = new Map([["A", { data: new Float32Array(3) }]]);
    const some = new Map([["A", { data: Float32Array.of(1, 2, 3) }]]);
    assert.equal(gradientSample(zero, some, [1, 1], 8), null);
    assert.equal(gradientSample(some, new Map([["A", { data: Float32Array.of(1, Number.NaN, 3) }]]), [1, 1], 8), null);
  });

  it("forgets: a step counts 2 % less with every step behind it", () => {
    const running = new GradientNoise();
    running.add({ agreement: 1, square: 4, signal: 4, rollouts: 8 });
    assert.deepEqual([running.fraction, running.scale], [0, 0]);
    running.add({ agreement: 0, square: 1, signal: 0, rollouts: 8 });
    running.add({ agreement: 0, square: 0, signal: 0, rollouts: 8 });
    const [old, last] = [4 * 0.98 ** 2, 0.98];
    assert.ok(Math.abs((running.fraction as number) - last / (old + last)) < 1e-12);
    assert.ok(Math.abs((running.scale as number) - (8 * last) / old) < 1e-12);
  });

  it("goes on from its state exactly", () => {
    const samples = synthetic(1, 1, 1, 0.5).slice(0, 9);
    const [whole, first] = [new GradientNoise(), new GradientNoise()];
    for (const sample of samples) whole.add(sample);
    for (const sample of samples.slice(0, 4)) first.add(sample);
    const second = new GradientNoise(JSON.parse(JSON.stringify(first.state)));
    for (const sample of samples.slice(4)) second.add(sample);
    assert.deepEqual([second.fraction, second.scale], [whole.fraction, whole.scale]);
  });
});

describe("the halves of a step", () => {
  const halfOf = (halves: Halves | undefined, g: Group): string => {
    const half = halves?.findIndex((some) => some.includes(g)) ?? -1;
    return half < 0 ? "-" : String(half);
  };
  const group = (signal: boolean): Group => ({ rollouts: [], credit: [], signal });

  it("are whole groups with signal, every split of equal sizes as likely as any", () => {
    const groups = [true, false, true, true, true].map(group);
    const counts = new Map<string, number>();
    for (let i = 0; i < 600; i++) {
      const halves = drawHalves(groups, Rng.named(i, "halves"));
      const key = groups.map((g) => halfOf(halves, g)).join("");
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    assert.deepEqual([...counts.keys()].sort(), ["0-011", "0-101", "0-110", "1-001", "1-010", "1-100"]);
    for (const count of counts.values()) assert.ok(count > 60 && count < 140, `${count} of 100`);
  });

  it("differ by one group where their number is odd; there are none of fewer than two", () => {
    const sizes = (...signal: boolean[]) =>
      drawHalves(signal.map(group), Rng.named(1, "halves"))?.map((half) => half.length);
    assert.deepEqual(sizes(...Array(5).fill(true)), [3, 2]);
    assert.equal(sizes(true, false), undefined);
    assert.deepEqual(sizes(true, true), [1, 1]);
  });
});
