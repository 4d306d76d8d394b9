import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { learningRate, type ScheduleOptions } from "../../src/optim/schedule.js";

const base: ScheduleOptions = {
  learningRate: 1,
  warmupSteps: 0,
  schedule: "constant",
  steps: 100,
  decayFrom: 0,
  minLrRatio: 0,
};

/** Options, then the learning rate by step. */
const TABLE: readonly [title: string, options: Partial<ScheduleOptions>, rates: Readonly<Record<number, number>>][] = [
  ["constant", {}, { 1: 1, 50: 1, 100: 1 }],
  ["constant with warm-up", { warmupSteps: 4, learningRate: 8 }, { 1: 2, 2: 4, 4: 8, 5: 8, 100: 8 }],
  ["linear", { schedule: "linear" }, { 1: 0.99, 50: 0.5, 100: 0 }],
  ["linear from half", { schedule: "linear", decayFrom: 0.5 }, { 1: 1, 50: 1, 75: 0.5, 100: 0 }],
  ["linear to a tenth", { schedule: "linear", minLrRatio: 0.1 }, { 50: 0.55, 100: 0.1 }],
  ["linear after warm-up", { schedule: "linear", warmupSteps: 20 }, { 10: 0.5, 20: 1, 60: 0.5, 100: 0 }],
  [
    "warm-up beyond the decay's start",
    { schedule: "linear", warmupSteps: 60, decayFrom: 0.2 },
    { 30: 0.5, 60: 1, 80: 0.5 },
  ],
  [
    "a share of a learning rate",
    { schedule: "linear", learningRate: 8, warmupSteps: 20, minLrRatio: 0.5 },
    { 10: 4, 60: 6, 100: 4 },
  ],
  ["cosine", { schedule: "cosine" }, { 50: 0.5, 100: 0 }],
  ["cosine, a quarter on", { schedule: "cosine", decayFrom: 0.2 }, { 20: 1, 40: 0.5 + Math.SQRT1_2 / 2, 60: 0.5 }],
  ["cosine to a half", { schedule: "cosine", minLrRatio: 0.5 }, { 50: 0.75, 100: 0.5 }],
  ["steps beyond the last", { schedule: "linear", minLrRatio: 0.2 }, { 101: 0.2, 500: 0.2 }],
  ["decay from the very end", { schedule: "cosine", decayFrom: 1 }, { 99: 1, 100: 1 }],
];

describe("learningRate", () => {
  for (const [title, options, rates] of TABLE) {
    it(title, () => {
      for (const [step, expected] of Object.entries(rates)) {
        const actual = learningRate(Number(step), { ...base, ...options });
        assert.ok(Math.abs(actual - expected) < 1e-12, `step ${step}: expected ${expected}, got ${actual}`);
      }
    });
  }
});
