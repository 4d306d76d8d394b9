import { test } from "node:test";
import type { UnmaskOptions } from "../../../../src/diffusion/samplers/unmask/options.js";
import { sampler } from "../../../../src/diffusion/samplers/unmask.js";
import type { TemplateStart } from "../../../../src/diffusion/template.js";
import { assertFrequencies } from "./enumeration.js";
import { EXAMPLE, FakeNetwork, SMALL, streams, totalLogProb } from "./fake-model.js";

const COUNT = 4000;
const OPTIONS: UnmaskOptions = { ...SMALL, responseLength: 16, rounds: 1 };
/** Two blanks of options. */
const CHOOSING: TemplateStart = {
  prompt: [1, 0],
  parts: [
    [1],
    { name: "a", needs: 4, whole: true, choices: [[0], [0, 1], [1, 1, 0]] },
    [0, 1],
    { name: "b", needs: 4, whole: true, choices: [[1], [0, 0], [0, 1]] },
  ],
};

// numbers that blanks share leave the probability of each blank as it is, and change that of both together
for (const [name, start, options] of [
  ["drawn at once", EXAMPLE, OPTIONS],
  ["each from left to right", EXAMPLE, { ...OPTIONS, slotFill: "autoregressive" }],
  ["by a causal model", EXAMPLE, { ...OPTIONS, slotFill: "next-token", order: "blanks" }],
  ["of options", CHOOSING, { ...OPTIONS, slotSize: 4, constrained: true, temperature: 6 }],
] as const)
  test(`answers of two blanks are as frequent together as their probabilities: ${name}`, async () => {
    const starts = Array.from({ length: COUNT }, () => start);
    const seen = new Map<string, { count: number; expected: number }>();
    for (const one of await sampler.rollout(new FakeNetwork(16), starts, options, streams(COUNT, 5), 100)) {
      const key = JSON.stringify(one.rounds.map(({ positions, tokens }) => [positions, tokens]));
      const { count } = seen.get(key) ?? { count: 0 };
      seen.set(key, { count: count + 1, expected: COUNT * Math.exp(totalLogProb(one)) });
    }
    assertFrequencies(
      [...seen.values()].map(({ count, expected }) => [count, expected] as const),
      COUNT,
    );
  });
