import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DiscreteRng } from "../../../src/core/rng.js";
import type { UnmaskOptions } from "../../../src/diffusion/samplers/unmask/options.js";
import type { UnmaskTrajectory } from "../../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler as unmask } from "../../../src/diffusion/samplers/unmask.js";
import { objective as cjGrpo } from "../../../src/features/objectives/objectives/cj-grpo.js";
import { objective as coupledGrpo } from "../../../src/features/objectives/objectives/coupled-grpo.js";
import { objective as flowRl } from "../../../src/features/objectives/objectives/flowrl.js";
import { objective as gdpo } from "../../../src/features/objectives/objectives/gdpo.js";
import { objective as justGrpo } from "../../../src/features/objectives/objectives/just-grpo.js";
import { objective as mdpo } from "../../../src/features/objectives/objectives/mdpo.js";
import { objective as spg } from "../../../src/features/objectives/objectives/spg.js";
import { objective as traceRl } from "../../../src/features/objectives/objectives/trace-rl.js";
import { objective as wd1 } from "../../../src/features/objectives/objectives/wd1.js";
import type { LayoutContext, Objective } from "../../../src/rl/objective.js";
import { readGolden, relativeError, under } from "../../support/golden.js";
import { assertGradients, assertLoss, goldenEngine } from "../../support/golden-engine.js";
import { cpuRuntime } from "../../support/temporary.js";
import { having, objectiveOptions } from "../../support/typed.js";

const TOLERANCE = 1e-4;
const sampler = having(unmask, "stepTerms", "boundTerms");
type Draw = readonly [masked: readonly number[], order: readonly number[]];
const micro = readGolden("micro");
const golden = readGolden("objective-family");
const meta = golden.meta as typeof golden.meta & {
  readonly slot_size: number;
  readonly canvas: number;
  readonly rounds: readonly (readonly (readonly number[])[])[];
  readonly step_credit: readonly (readonly number[])[];
  readonly draws: readonly (readonly Draw[])[];
  readonly fixed: readonly (readonly Draw[])[];
  readonly spg: readonly [beta: number, omega: number];
  readonly flowrl: readonly [beta: number, width: number];
  readonly trace: readonly [gamma: number, lambda: number, clip: number, trunk: number];
};

/** The recorded rollouts: the tokens of each round, with the golden's old values as recorded log-probabilities. */
const rollouts = meta.rounds.map((rounds, b): UnmaskTrajectory => {
  const response = [...golden.ints(`input.response.${b}`)].map(Number);
  const done: number[] = [];
  return {
    prompt: [...golden.ints(`input.prompt.${b}`)].map(Number),
    slotSize: meta.slot_size,
    responseLength: meta.canvas,
    temperature: meta.temperature,
    response,
    ended: response.length < meta.canvas || b !== 1 ? "eos" : "length",
    rounds: rounds.map((slots) => {
      const before = [...done];
      done.push(...slots);
      const positions = response.map((_, i) => i).filter((i) => slots.includes(Math.floor(i / meta.slot_size)));
      const left = (slot: number) => Array.from({ length: slot }, (_, s) => s);
      return {
        positions,
        tokens: positions.map((p) => response[p] as number),
        logProbs: positions.map(() => -1),
        eosAllowed: positions.map((p) => {
          const slot = Math.floor(p / meta.slot_size);
          return left(slot).every((s) => done.includes(s)) && before.every((s) => s < slot);
        }),
      };
    }),
  };
});

const sampling: UnmaskOptions = {
  ...{ responseLength: meta.canvas, promptLength: 8, temperature: meta.temperature, rounds: 3 },
  ...{ slotSize: meta.slot_size, order: "confidence", slotFill: "parallel", canvasPerPrompt: null, kvCache: "auto" },
  model: { tokens: { mask: 96, pad: 95, eos: 94 }, vocabulary: 97, attention: "causal" },
};

/** Makes a random stream that yields these draws, one after the other. */
function scripted(draws: readonly Draw[]): DiscreteRng {
  let shuffles = 0;
  let sizes = 0;
  return {
    int: () => (draws[sizes++] as Draw)[0].length,
    shuffle: <T>(items: readonly T[]): T[] => {
      const [masked, order] = draws[Math.floor(shuffles / 2)] as Draw;
      const first = shuffles++ % 2 === 0;
      const slots = first ? [...masked, ...order.filter((slot) => !masked.includes(slot))] : order;
      assert.equal(slots.length, items.length);
      return [...slots] as T[];
    },
  };
}

function context(draws: readonly (readonly Draw[])[] = []): LayoutContext {
  const sizes = { batch: 4, lengthStep: 32 };
  const of = (some: readonly unknown[]) => some as readonly UnmaskTrajectory[];
  return {
    rngs: [],
    steps: (t) => sampler.steps(t as UnmaskTrajectory),
    stepTerms: (some, layout) => sampler.stepTerms(of(some), sampling, { ...sizes, ...layout }),
    boundTerms: (some, layout) =>
      sampler.boundTerms(of(some), sampling, { ...sizes, ...layout, rngs: draws.map(scripted) }),
    textTerms: () => assert.fail("no text"),
  };
}

describe("objectives against PyTorch on the micro model", () => {
  /** Compares the loss and all gradients, the head's included, on the golden's rollouts and draws. */
  async function compare<O>(
    objective: Objective<O>,
    section: object,
    draws: readonly (readonly Draw[])[] = [],
    credit = (b: number, _step: number): number => golden.floats("input.advantages")[b] as number,
    name = objective.name,
  ): Promise<void> {
    const options = objectiveOptions(objective, section);
    const more = under(golden, "head.");
    const engine = await goldenEngine(await cpuRuntime(), micro, [objective, options], { more });
    const batch = objective.layout(rollouts, options, context(draws));
    const own = (key: string): Float32Array => {
      const data = golden.tensors.get(`input.${name}_${key}`)?.data as Float32Array | undefined;
      return Float32Array.from({ length: batch.segments }, (_, s) => data?.[s] ?? 0);
    };
    const shares = batch.owner.map((b, s) => (b < 0 ? 0 : (batch.share?.[s] ?? 1)));
    const all = shares.reduce((a, x) => a + x, 0);
    const { critic } = engine;
    if (critic !== undefined) {
      const { logProb: value } = await engine.score(critic.states(batch), "policy");
      const difference = relativeError(value, golden.floats(`expect.${name}_values`));
      assert.ok(difference < TOLERANCE, `values: ${difference}`);
    }
    const advantage = Float32Array.from(batch.owner, (b, s) => (b < 0 ? 0 : credit(b, batch.step[s] as number)));
    const extra = objective.feed?.(batch, rollouts, options);
    const { loss } = await engine.accumulate(batch, {
      old: own("old"),
      reference: own("ref"),
      advantage,
      weight: Float32Array.from(shares, (x) => x / all),
      ...(extra === undefined ? {} : { extra }),
      ...critic?.assess(batch, own("values"), advantage),
    });
    assertLoss(golden, name, loss);
    await assertGradients(golden, `${name}.`, engine);
  }

  const clipped = { clip_range: meta.clip_range, kl_coeff: meta.beta };
  const first = meta.draws.map(([draw]) => [draw as Draw]);

  it("cj-grpo", () => compare(cjGrpo, clipped));
  it("just-grpo", () => compare(justGrpo, clipped));
  it("mdpo", () => compare(mdpo, clipped, [], (b, step) => meta.step_credit[b]?.[step] as number));
  it("flowrl, with the gradients of its head", () =>
    compare(flowRl, { beta: meta.flowrl[0], head_width: meta.flowrl[1], clip_range: meta.clip_range }));
  for (const [name, shrink] of [
    ["trace-rl", 1],
    ["trace-rl-joined", 2],
  ] as const)
    it(`trace-rl with its value, ${shrink} round(s) a step`, () => {
      const [gamma, lambda, value_clip, value_trunk] = meta.trace;
      return compare(traceRl, { ...clipped, shrink, gamma, lambda, value_clip, value_trunk }, [], undefined, name);
    });
  it("coupled-grpo", () => compare(coupledGrpo, clipped, first));
  it("wd1", () => compare(wd1, {}, meta.draws));
  it("spg", () => compare(spg, { beta: meta.spg[0], omega: meta.spg[1] }, meta.draws));
  it("gdpo", () => {
    const range = { clip_range_low: meta.clip_range, clip_range_high: meta.clip_range };
    return compare(gdpo, { ...range, kl_coeff: meta.beta }, meta.fixed);
  });

  it("the recorded rollouts of the golden are ones that the sampler could have drawn", () => {
    for (const rollout of rollouts)
      assert.deepEqual(sampler.parse(structuredClone(rollout), "golden", sampling.model), rollout);
  });

  it("a bound that is no log-probability of masked tokens is refused", async () => {
    const { refusalOf } = await import("../../../src/diffusion/sampler.js");
    const { sampler: jump } = await import("../../../src/features/fsdfm/samplers/jump.js");
    for (const { scoring } of [spg, gdpo, coupledGrpo])
      assert.match(refusalOf(jump, scoring, sampling)?.reason ?? "", /no log-probabilities/);
    assert.equal(refusalOf(jump, wd1.scoring, sampling)?.reason, undefined);
  });
});
