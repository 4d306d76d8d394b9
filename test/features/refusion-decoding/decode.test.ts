import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import fc from "fast-check";
import { UserError } from "../../../src/core/errors.js";
import { Rng } from "../../../src/core/rng.js";
import { refusalOf } from "../../../src/diffusion/sampler.js";
import { Canvas, type TokenTemplate } from "../../../src/diffusion/template.js";
import { draftHead } from "../../../src/features/refusion-decoding/head.js";
import type { RefusionOptions } from "../../../src/features/refusion-decoding/options.js";
import { sampler as refusion } from "../../../src/features/refusion-decoding/samplers/refusion.js";
import type { RefusionTrajectory } from "../../../src/features/refusion-decoding/trajectory.js";
import type { Value } from "../../../src/onnx/types.js";
import { EXAMPLE, FakeNetwork, MODEL, prompts, streams, TOKENS } from "../../diffusion/samplers/unmask/fake-model.js";
import { about, argmax, close, evaluateOn, f32, i64, logSoftmax, normal } from "../../support/heads.js";
import { cpuRuntime } from "../../support/temporary.js";
import { having, samplerConfig } from "../../support/typed.js";
import { Drafting } from "./drafting.js";
import { Reference } from "./reference.js";

const sampler = having(refusion, "reveals");
const OPTIONS: RefusionOptions = {
  ...{ slotSize: 3, blocks: 2, slotThreshold: 0.5, tokenThreshold: 0.4, responseLength: 18 },
  ...{ promptLength: 3, temperature: 0, kvCache: true, model: MODEL },
};

async function decodeAll(
  network: FakeNetwork,
  asked: readonly (readonly number[])[],
  options: RefusionOptions,
  batch?: number,
): Promise<{ trajectories: RefusionTrajectory[]; forwards: number }> {
  const model = new Drafting(network);
  const trajectories = await sampler.rollout(model, asked, options, streams(asked.length, 1), batch);
  return { trajectories, forwards: model.forwards };
}

const one = async (network: FakeNetwork, prompt: readonly number[], options: RefusionOptions) =>
  (await decodeAll(network, [prompt], options)).trajectories[0] as RefusionTrajectory;

/** Options of every kind: slot sizes, blocks, thresholds from 0 to 1. */
const anyOptions = fc
  .record({
    slotSize: fc.integer({ min: 1, max: 4 }),
    blocks: fc.integer({ min: 1, max: 3 }),
    slots: fc.integer({ min: 1, max: 3 }),
    slotThreshold: fc.constantFrom(0, 0.4, 0.5, 0.6, 0.8, 1),
    tokenThreshold: fc.constantFrom(0, 0.3, 0.4, 0.5, 0.7, 1),
  })
  .map(({ slots, ...rest }): RefusionOptions => {
    return { ...OPTIONS, ...rest, responseLength: slots * rest.blocks * rest.slotSize };
  });

describe("sampler refusion", () => {
  it("does what the plain description of the search does, forward by forward", async () => {
    let [ended, sideBySide] = [0, 0];
    for (let seed = 0; seed < 100; seed++) {
      const [options] = fc.sample(anyOptions, { seed, numRuns: 1 }) as [RefusionOptions];
      const network = new FakeNetwork(seed);
      const [prompt] = prompts(1, 3, seed) as [number[]];
      const reference = new Reference(network, options);
      const expected = reference.decode(prompt);
      const got = await one(network, prompt, options);
      assert.deepEqual(
        { response: got.response, order: got.positions, forwards: got.forwards },
        { ...expected, forwards: reference.forwards },
        JSON.stringify({ seed, ...options }),
      );
      if (got.ended === "eos") ended++;
      if (new Set(got.passes).size * options.slotSize > got.response.length) sideBySide++;
    }
    // the cases cover what can happen
    assert.ok(ended > 20 && ended < 95, `${ended} ended in EOS`);
    assert.ok(sideBySide > 15, `${sideBySide} took several passes a slot`);
  });

  it("commits every position through the end once, and EOS only there", async () => {
    const property = fc.asyncProperty(anyOptions, fc.nat(10_000), async (options, seed) => {
      const trajectory = await one(new FakeNetwork(seed), [1, 0], options);
      const again = sampler.parse(JSON.parse(JSON.stringify(trajectory)), "line 1", MODEL);
      assert.deepEqual(again, trajectory);
      assert.ok(trajectory.response.every((token) => token !== TOKENS.mask && token !== TOKENS.pad));
      assert.ok(trajectory.forwards <= sampler.shapes(options).steps);
      const revealed = sampler.reveals(trajectory).map(({ position }) => position);
      assert.deepEqual(new Set(revealed), new Set(trajectory.response.keys()));
      assert.equal(revealed.length, trajectory.response.length);
    });
    await fc.assert(property, { seed: 5, numRuns: 60 });
  });

  it("gives each prompt the same response in a batch as alone", async () => {
    for (const seed of [1, 2, 3, 4]) {
      const network = new FakeNetwork(seed);
      const asked = prompts(5, 3, seed);
      const alone = await decodeAll(network, asked, OPTIONS, 1);
      for (const batch of [2, 5]) {
        const together = await decodeAll(network, asked, OPTIONS, batch);
        assert.deepEqual(together.trajectories, alone.trajectories);
        assert.ok(together.forwards < alone.forwards);
      }
    }
  });

  it("refuses every scoring, a temperature, long prompts and bidirectional models", async () => {
    for (const [scoring, lacks] of [
      ["steps", /^its sampler has no log-probabilities of its steps/],
      ["bound", /^its sampler has no bound/],
      ["text", /^its sampler has no /],
      ["supervised", /^its sampler has no supervised loss/],
    ] as const)
      assert.match(refusalOf(sampler, scoring, OPTIONS)?.reason ?? "", lacks);
    const network = new FakeNetwork(1);
    await assert.rejects(decodeAll(network, [[0]], { ...OPTIONS, temperature: 0.7 }), /evaluation|deterministic/);
    await assert.rejects(decodeAll(network, [[0, 0, 0, 0]], OPTIONS), /Prompt 0 has 4 tokens, prompt_length allows 3/);
    const config = samplerConfig(sampler);
    assert.throws(() => sampler.options(config, { ...MODEL, attention: "bidirectional" }), UserError);
    assert.equal(sampler.schema.safeParse({ response_length: 24, slot_size: 4, serial_blocks: 4 }).success, false);
  });
});

test("a recorded search that cannot be is refused by what is wrong with it", () => {
  const good: RefusionTrajectory = {
    ...{ prompt: [1, 0], slotSize: 2, responseLength: 6, temperature: 0, forwards: 4 },
    ...{ positions: [2, 3, 0, 1], passes: [1, 1, 3, 3], response: [1, 0, 1, TOKENS.eos], ended: "eos" },
  };
  assert.deepEqual(sampler.parse(good, "line 3", MODEL), good);
  const refused = (change: Partial<RefusionTrajectory>, message: RegExp): void => {
    assert.throws(() => sampler.parse({ ...good, ...change }, "line 3", MODEL), message);
  };
  refused({ positions: good.positions.map(() => 0) }, /line 3: .*position 1 .* exactly once/);
  refused({ passes: good.passes.map(() => good.forwards) }, /final in forward/);
  refused({ ended: "length" }, /ended by/);
  refused({ positions: good.positions.slice(1) }, /positions/);
  refused({ temperature: 1 as 0 }, /temperature/);
});

test("ReFusion's decoding fills every blank through its end", async () => {
  const sizes = { slotSize: 2, blocks: 1, responseLength: 24, promptLength: 3, room: 4 };
  const options = { ...sizes, slotThreshold: 0.5, tokenThreshold: 0.4, temperature: 0, kvCache: false, model: MODEL };
  for (let seed = 0; seed < 20; seed++) {
    const drafting = new Drafting(new FakeNetwork(seed));
    const [trajectory] = await refusion.rollout(drafting, [EXAMPLE], options, streams(1, seed));
    assert.ok(trajectory !== undefined);
    assert.deepEqual(refusion.parse(JSON.parse(JSON.stringify(trajectory)), "here", MODEL), trajectory);
    assert.equal(Canvas.of((trajectory as { template?: TokenTemplate }).template).blanks.length, 2);
  }
});

const runtime = await cpuRuntime();

test("drafts the most probable token, and says how probable a given one is", async () => {
  const [vocabulary, tokens] = [9, { eos: 2, mask: 7, pad: 8 }];
  const rng = Rng.named(6, "drafts");
  const logits = [0, 1, 2, 3].map(() => [...normal(rng, 7), 20, 20]);
  const targets = [2, 0, 5, 1];
  const feeds = {
    logits: f32([4, vocabulary], logits.flat()),
    inverse_temperature: f32([], [1]),
    target: i64(targets),
  };
  const out = await evaluateOn(runtime, "drafts", feeds, (e, { logits: l, ...inputs }) =>
    draftHead.emit(e, { logits: l as Value }, inputs, about(tokens, vocabulary)),
  );
  const drafts = draftHead.read(out);
  const expected = logits.map((row) => logSoftmax(row, 1, [7, 8]));
  assert.deepEqual([...drafts.token].map(Number), expected.map(argmax));
  const wanted = expected.map((row) => Math.max(...row));
  close([...drafts.logProb], wanted);
  close(
    [...drafts.targetLogProb],
    expected.map((row, r) => row[targets[r] as number] as number),
  );
});
