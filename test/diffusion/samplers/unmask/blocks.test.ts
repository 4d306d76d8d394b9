import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { layBuffers } from "../../../../src/attention/rows.js";
import { packageRoot } from "../../../../src/core/files.js";
import { layCanvas } from "../../../../src/diffusion/samplers/unmask/canvas.js";
import type { UnmaskOptions } from "../../../../src/diffusion/samplers/unmask/options.js";
import { sampler } from "../../../../src/diffusion/samplers/unmask.js";
import { Canvas } from "../../../../src/diffusion/template.js";
import type { SampledModel } from "../../../../src/diffusion/tokens.js";
import { readSafetensors } from "../../../../src/weights/safetensors.js";
import { tokensOf } from "../../../support/token-batch.js";
import { FakeNetwork, MODEL, SMALL, streams } from "./fake-model.js";

const BLOCKS: SampledModel = { ...MODEL, attention: "bidirectional", block: 4 };
const OPTIONS: UnmaskOptions = { ...SMALL, slotSize: 1, responseLength: 10, rounds: 10, model: BLOCKS };

describe("a model that is bidirectional inside blocks and causal between them", () => {
  it("sees what SDAR's mask shows: the prompt's blocks, those before, and its own whole", () => {
    const golden = readSafetensors(join(packageRoot(), "test", "golden", "families", "sdar.safetensors"));
    const bias = golden.get("attention_bias")?.data as Float32Array;
    const revealed = new Map([[4, 1]]);
    const { buffer, indexOf } = layCanvas({ prompt: [0, 1, 0], canvas: Canvas.FREE, revealed, slotSize: 1 }, 6, BLOCKS);
    assert.deepEqual([...indexOf], [3, 4, 5, 6, 7, 8]);
    const { attentionBias } = tokensOf(layBuffers([buffer], { batch: 2, length: 9, pad: 0 }));
    assert.deepEqual([...attentionBias.subarray(0, 81)], [...bias.subarray(0, 81)]);
  });

  it("reads a template by position: what is given and what is open, block by block", () => {
    const canvas = Canvas.of([[1, 0], { name: "a", room: 3 }, [1], { name: "b", room: 2 }]);
    const revealed = new Map([[3, 0]]);
    const { buffer, indexOf } = layCanvas({ prompt: [0], canvas, revealed, slotSize: 1 }, 5, BLOCKS);
    // prompt | 1 0 | three of a | 1 | two of b, at positions 0 to 8
    assert.deepEqual(buffer.positions, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert.deepEqual(buffer.ids, [0, 1, 0, 3, 3, 3, 1, 0, 3]);
    assert.deepEqual([...indexOf], [3, 4, 5, 7, 8]);
    assert.deepEqual(buffer.prefix, [4, 4, 4, 4, 8, 8, 8, 8, 9]);
  });

  it("is written block by block", async () => {
    const network = new FakeNetwork(2);
    const starts = [[1, 0, 1], [0]];
    const trajectories = await sampler.rollout(network, starts, OPTIONS, streams(2, 3));
    for (const [i, { rounds }] of trajectories.entries()) {
      const blocks = rounds.flatMap(({ positions }) =>
        positions.map((position) => Math.floor(((starts[i] as number[]).length + position) / 4)),
      );
      const expected = blocks.toSorted((a, b) => a - b);
      assert.deepEqual(blocks, expected);
    }
  });
});
