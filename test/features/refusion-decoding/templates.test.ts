import assert from "node:assert/strict";
import { test } from "node:test";
import { Canvas, type TokenTemplate } from "../../../src/diffusion/template.js";
import { sampler as refusion } from "../../../src/features/refusion-decoding/samplers/refusion.js";
import { EXAMPLE, FakeNetwork, MODEL, streams } from "../../diffusion/samplers/unmask/fake-model.js";
import { Drafting } from "./drafting.js";

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
