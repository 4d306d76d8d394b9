import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Engine } from "../../../src/engine/engine.js";
import type { Tensor } from "../../../src/onnx/types.js";
import type { MicroBatch } from "../../../src/train/micro-batch.js";
import { GradientSum, type SlotGradient, slotRanges, slotsHere } from "../../../src/train/rollouts/slots.js";
import { takeStep } from "../../../src/train/update.js";
import { f32 } from "../../support/tensors.js";

describe("slots of an update", () => {
  it("are runs of neighbours, whoever computes them", () => {
    const ranges = (...given: Parameters<typeof slotRanges>) => slotRanges(...given).map(String);
    assert.deepEqual(ranges(7, 3), ["0,2", "2,4", "4,7"]);
    assert.deepEqual(ranges(2, 8), ["0,1", "1,2"]);
    assert.deepEqual(ranges(5, 1), ["0,5"]);
    // the halves of a step do not share a slot
    assert.deepEqual(ranges(6, 2, 4), ["0,3", "3,4", "4,6"]);
    assert.deepEqual(ranges(0, 4), []);
  });

  it("are summed in float64 and rounded once", () => {
    const sum = new GradientSum();
    const add = (x: number): void => sum.add(new Map([["w", f32([2], x, -x)]]));
    // in float32 each of these would be lost beside 2^24
    add(2 ** 24);
    for (let i = 0; i < 4; i++) add(0.5);
    assert.deepEqual(sum.rounded().get("w"), f32([2], 2 ** 24 + 2, -(2 ** 24) - 2));
  });

  /** Makes an engine whose gradient of a micro-batch is the micro-batch's number. */
  function fakeEngine(): { engine: Engine; stepped: () => number[] } {
    let sum: number | undefined;
    const stepped: number[] = [];
    const engine = {
      discardGradients: () => {
        sum = undefined;
      },
      accumulate: async (batch: unknown) => {
        sum = (sum ?? 0) + Number(batch);
        return { loss: Number(batch), largest: Number(batch) };
      },
      reduction: (name: string) => (name === "largest" ? "max" : "sum"),
      getGradients: async () => new Map([["w", f32([1], sum as number)]]),
      setGradients: async (gradients: ReadonlyMap<string, Tensor>) => {
        sum = gradients.get("w")?.data[0] as number;
      },
      step: async () => {
        stepped.push(sum as number);
        return 1;
      },
    };
    return { engine: engine as unknown as Engine, stepped: () => stepped };
  }
  const batches = [1, 2, 3, 4, 5].map((batch) => ({ batch, values: { weight: [0.2] } }) as unknown as MicroBatch);

  it("come to the same update and metrics as one slot; an observer hears of each slot's end", async () => {
    const one = fakeEngine();
    const many = fakeEngine();
    const expected = await takeStep(one.engine, batches, 1, 0.1);
    const heard: string[] = [];
    const accumulated = async (index: number, gradients: () => Promise<ReadonlyMap<string, Tensor>>) =>
      void heard.push(`${index}: ${(await gradients()).get("w")?.data[0]}`);
    const observer = { boundary: 2, accumulated };
    const slots = { count: 2, gradients: slotsHere(many.engine) };
    assert.deepEqual(await takeStep(many.engine, batches, 1, 0.1, { observer, slots }), expected);
    assert.deepEqual(expected, { loss: 15, largest: 5, grad_norm: 1 });
    assert.deepEqual(many.stepped(), one.stepped());
    assert.deepEqual(heard, ["1: 3", "4: 15"]);
  });

  it("may come from elsewhere, where the engine knows no reductions", async () => {
    const { engine, stepped } = fakeEngine();
    const blind = { ...engine, reduction: () => "sum" } as unknown as Engine;
    async function* elsewhere(given: readonly (readonly MicroBatch[])[]): AsyncGenerator<SlotGradient> {
      for (const slot of given) {
        const metrics = slot.map(({ batch }) => ({ loss: Number(batch), largest: Number(batch) }));
        const gradient = metrics.reduce((sum, { loss }) => sum + loss, 0);
        yield { gradients: new Map([["w", f32([1], gradient)]]), metrics, largest: ["largest"] };
      }
    }
    const total = await takeStep(blind, batches, 1, 0.1, { slots: { count: 3, gradients: elsewhere } });
    assert.deepEqual(total, { loss: 15, largest: 5, grad_norm: 1 });
    assert.deepEqual(stepped(), [15]);
  });
});
