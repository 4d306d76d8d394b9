import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { drawAmong } from "../../../src/diffusion/constrained.js";
import type { UnmaskOptions } from "../../../src/diffusion/samplers/unmask/options.js";
import type { UnmaskTrajectory } from "../../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler as unmask } from "../../../src/diffusion/samplers/unmask.js";
import { isRoom } from "../../../src/diffusion/template.js";
import { close } from "../../support/close.js";
import { having } from "../../support/typed.js";
import { CHOOSING, isOption, valuesOf } from "./choices.js";
import { FakeNetwork, MODEL, SMALL, scored, streams, totalLogProb } from "./unmask/fake-model.js";

const OPTIONS: UnmaskOptions = { ...SMALL, responseLength: 24, temperature: 6, constrained: true };

const layout = { batch: 1, lengthStep: 1, level: "token" as const };

test("unmask: every value is an option, or nothing where one may stay open, all of them add up to 1, and the record is scored as it was drawn", async () => {
  for (const attention of ["causal", "bidirectional"] as const) {
    const fills = ["1 1 parallel", "1 3 parallel", "2 1 parallel", "2 2 parallel", "4 2 parallel"];
    if (attention === "causal") fills.push("2 2 autoregressive", "2 3 single-mask", "4 1 single-mask");
    if (attention === "causal") fills.push("1 4 next-token", "2 1 next-token");
    for (const [size, most, fill] of fills.map((of) => of.split(" "))) {
      const [slotSize, rounds, slotFill] = [Number(size), Number(most), fill as UnmaskOptions["slotFill"]];
      const order = slotFill === "parallel" ? OPTIONS.order : "blanks";
      const options: UnmaskOptions = { ...OPTIONS, order, slotFill, slotSize, rounds, model: { ...MODEL, attention } };
      const network = new FakeNetwork(4);
      const drawn = await unmask.rollout(network, Array(250).fill(CHOOSING), options, streams(250, 7), 50);
      const outcomes = new Map<string, number>();
      for (const [i, trajectory] of drawn.entries()) {
        const [a = [], b = []] = valuesOf(trajectory);
        assert.ok(isOption("a", a) && isOption("b", b), JSON.stringify([a, b]));
        outcomes.set(JSON.stringify([a, b]), Math.exp(totalLogProb(trajectory)));
        if (i > 5) continue;
        assert.deepEqual(unmask.parse(JSON.parse(JSON.stringify(trajectory)), "here", options.model), trajectory);
        const recorded = trajectory.rounds.flatMap(({ logProbs }) => [...logProbs]);
        for (const packed of [true, false]) {
          const batch = having(unmask, "stepTerms").stepTerms([trajectory], options, { ...layout, packed });
          close(scored(network, batch), recorded);
        }
      }
      const total = [...outcomes.values()].reduce((sum, p) => sum + p, 0);
      assert.equal(outcomes.size, 8, `${attention} ${slotSize} ${rounds} ${slotFill}`);
      assert.ok(Math.abs(total - 1) < 1e-6, `${attention} ${slotSize} ${rounds}: ${total}`);
    }
  }
});

test("without the option the same blanks hold anything, and their records have no options", async () => {
  const free = { ...OPTIONS, constrained: false };
  const drawn = await unmask.rollout(new FakeNetwork(4), Array(40).fill(CHOOSING), free, streams(40, 7));
  assert.ok(drawn.some((trajectory) => !isOption("a", valuesOf(trajectory)[0] ?? [])));
  assert.ok(drawn.every(({ template }) => template?.filter(isRoom).every((room) => room.choices === undefined)));
});

test("greedy takes the most probable option token, and a record of another is refused", async () => {
  const [greedy] = await unmask.rollout(new FakeNetwork(4), [CHOOSING], { ...OPTIONS, temperature: 0 }, streams(1, 1));
  const again = await unmask.rollout(new FakeNetwork(4), [CHOOSING], { ...OPTIONS, temperature: 0 }, streams(1, 2));
  assert.deepEqual(again[0]?.response, greedy?.response);
  const { template } = greedy as UnmaskTrajectory;
  const other = template?.map((part) => (isRoom(part) ? { ...part, choices: [[1, 0, 1]] } : part));
  assert.throws(() => unmask.parse({ ...greedy, template: other }, "x", MODEL), /continues none of the options/);
});

test("a draw among some tokens follows their probabilities, and rounding takes none that is impossible", () => {
  const logs = [Math.log(0.1), Math.log(0.3), Number.NEGATIVE_INFINITY];
  const rng = Rng.named(1, "among");
  const counts = [0, 0, 0];
  for (let i = 0; i < 4000; i++) {
    const { index } = drawAmong(logs, rng.uniform());
    counts[index] = (counts[index] as number) + 1;
  }
  assert.ok(counts[2] === 0 && Math.abs((counts[0] as number) / 4000 - 0.25) < 0.03, String(counts));
  assert.deepEqual(drawAmong(logs, undefined).index, 1);
  assert.ok(Math.abs(drawAmong(logs, 0.1).logProb - Math.log(0.25)) < 1e-12);
  assert.equal(drawAmong(logs, 1 - 2 ** -53).index, 1);
});

test("explore draws each possible token as often in its share of the draws, with the policy's own log-probability", () => {
  const logs = [Math.log(0.25), Math.log(0.75), Number.NEGATIVE_INFINITY];
  const rng = Rng.named(2, "explore");
  const counts = [0, 0, 0];
  for (let i = 0; i < 4000; i++) {
    const { index, logProb } = drawAmong(logs, rng.uniform(), 0.5);
    assert.ok(Math.abs(logProb - (logs[index] as number)) < 1e-12);
    counts[index] = (counts[index] as number) + 1;
  }
  assert.ok(counts[2] === 0 && Math.abs((counts[0] as number) / 4000 - 0.375) < 0.03, String(counts));
  assert.equal(drawAmong(logs, undefined, 0.5).index, 1);
  assert.match(String(unmask.schema.safeParse({ explore: 0.1 }).error), /needs constrained_decoding/);
});

test("settings that cannot hold to options are refused", async () => {
  const filled = unmask.schema.safeParse({ constrained_decoding: true, slot_fill: "autoregressive" });
  assert.match(String(filled.error?.issues[0]?.message), /needs slot_fill=parallel or order=blanks/);
  const few: UnmaskOptions = { ...OPTIONS, order: "blanks", slotFill: "single-mask", slotSize: 2, rounds: 1 };
  const rollout = unmask.rollout(new FakeNetwork(4), [CHOOSING], few, streams(1, 1));
  await assert.rejects(rollout, /takes 2 slots, and sampler\.rounds=1/);
  assert.ok(unmask.schema.safeParse({ constrained_decoding: true }).success);
});
