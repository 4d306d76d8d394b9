import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Value } from "../../../src/onnx/types.js";
import { compareWithGolden, type RowLoss } from "../../support/architecture-golden.js";
import { goldenModel, readGolden } from "../../support/golden.js";
import { cpuRuntime } from "../../support/temporary.js";

const runtime = await cpuRuntime();

const TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];

/** sum_r w_r * -log p(x_1) */
const crossEntropy: RowLoss = ({ e, outputs }, { clean, weight }) =>
  e.total(e.mul(e.neg(e.gatherElements(e.logSoftmax(outputs.logits as Value), clean, 1)), weight));

describe("masked_lm against PyTorch", () => {
  const golden = readGolden("masked-lm");
  for (const [label, changes] of [
    ["normed", { qk_norm: true }],
    ["bare", { qk_norm: false, tie_word_embeddings: true }],
  ] as const) {
    it(`gives logits, the loss and all gradients, ${label}: ${JSON.stringify(changes)}`, async () => {
      const model = await goldenModel(golden, { architecture: "masked_lm", attention: "bidirectional", ...changes });
      assert.equal(model.graph.initializers.has("model.layers.0.self_attn.q_norm.weight"), label === "normed");
      await compareWithGolden(runtime, golden, model, label, TARGETS, crossEntropy);
    });
  }
});
