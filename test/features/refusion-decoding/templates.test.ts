import assert from "node:assert/strict";
import { test } from "node:test";
import { Canvas, type TemplateStart, type TokenTemplate } from "../../../src/diffusion/template.js";
import { sampler as refusion } from "../../../src/features/refusion-decoding/samplers/refusion.js";
import { FakeNetwork, MODEL, streams } from "../../diffusion/samplers/unmask/fake-model.js";
import { tokensOf } from "../../support/token-batch.js";

const EXAMPLE: TemplateStart = {
  prompt: [1, 0],
  parts: [[1, 1], { name: "a", needs: 2 }, [0, 1, 0], { name: "b", needs: 2 }, [1]],
};

test("ReFusion's decoding fills every blank through its end", async () => {
  const options = {
    slotSize: 2,
    blocks: 1,
    slotThreshold: 0.5,
    tokenThreshold: 0.4,
    responseLength: 24,
    promptLength: 3,
    temperature: 0,
    room: 4,
    kvCache: false,
    model: MODEL,
  };
  for (let seed = 0; seed < 20; seed++) {
    const network = new FakeNetwork(seed);
    const drafting = {
      async forwardRound(round: Parameters<typeof network.forwardRound>[0]) {
        const input = tokensOf(round);
        const states = network.hidden(input, 0);
        const target = round.headInputs.target?.data as BigInt64Array;
        const rows = [...input.rows].map((flat) => network.logProbs(states[Number(flat)] as Float64Array, 1, true));
        const best = rows.map((row) => row.indexOf(Math.max(...row)));
        return {
          token: BigInt64Array.from(best, BigInt),
          logProb: Float32Array.from(best, (token, r) => rows[r]?.[token] as number),
          targetLogProb: Float32Array.from(rows, (row, r) => row[Number(target[r])] as number),
        };
      },
    };
    const [trajectory] = await refusion.rollout(drafting, [EXAMPLE], options, streams(1, seed));
    assert.ok(trajectory !== undefined);
    assert.deepEqual(refusion.parse(JSON.parse(JSON.stringify(trajectory)), "here", MODEL), trajectory);
    const canvas = Canvas.of((trajectory as { template?: TokenTemplate }).template);
    assert.equal(canvas.blanks.length, 2);
  }
});
