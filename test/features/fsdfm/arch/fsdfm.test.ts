import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Rng } from "../../../../src/core/rng.js";
import { architecture } from "../../../../src/features/fsdfm/arch/fsdfm.js";
import { initialise } from "../../../../src/nn/architecture.js";
import { loraSites } from "../../../../src/nn/bind.js";
import type { ModelConfig } from "../../../../src/nn/config.js";
import { sizeOf } from "../../../../src/onnx/shapes.js";
import type { Value } from "../../../../src/onnx/types.js";
import { compareWithGolden, type RowLoss } from "../../../support/architecture-golden.js";
import { goldenModel, readGolden } from "../../../support/golden.js";
import { cpuRuntime } from "../../../support/temporary.js";

const runtime = await cpuRuntime();

const ATTENTION = ["qw", "kw", "vw", "attn_out"];
const MLP = ["0", "1"].flatMap((i) => [`blocks.${i}.mlp.0`, `blocks.${i}.mlp.2`]);

/** Generalised KL (arXiv 2509.20624): sum_r -w_r [p(x_t) - d + (1 - d) log p(x_1)], d = 1[x_t = x_1]. */
const generalisedKl: RowLoss = ({ e, outputs }, { noisy, clean, weight }) => {
  const logP = e.logSoftmax(outputs.logits as Value);
  const same = e.indicator(e.equal(noisy, clean));
  const stay = e.sub(e.exp(e.gatherElements(logP, noisy, 1)), same);
  const jump = e.mul(e.sub(1, same), e.gatherElements(logP, clean, 1));
  return e.neg(e.total(e.mul(weight, e.add(stay, jump))));
};

describe("fsdfm against PyTorch", () => {
  const golden = readGolden("fsdfm");
  for (const [label, step_conditioned] of [
    ["student", true],
    ["plain", false],
  ] as const) {
    it(`gives logits, the generalised KL and all gradients of the ${label} model`, async () => {
      const changes = { architecture: "fsdfm", attention: "bidirectional", step_conditioned };
      const model = await goldenModel(golden, changes);
      assert.deepEqual(
        model.graph.inputs.map((v) => `${v.name} [${v.shape}]`).slice(3),
        step_conditioned ? ["time [B]", "step [B]"] : ["time [B]"],
      );
      const lora = { rank: 1, alpha: 1, targets: ATTENTION };
      assert.equal(loraSites(model.graph, lora).length, 2 * ATTENTION.length);
      await compareWithGolden(runtime, golden, model, label, [...ATTENTION, ...MLP], generalisedKl);
    });
  }
});

describe("fsdfm weights", () => {
  const config = (changes: Partial<ModelConfig>): ModelConfig => ({
    architecture: "fsdfm",
    attention: "bidirectional",
    ...{ vocab_size: 50257, mask_token_id: 50256, eos_token_id: 50256, pad_token_id: 50256 },
    ...{ hidden_size: 768, cond_dim: 128, num_hidden_layers: 12, num_attention_heads: 12, step_conditioned: true },
    ...changes,
  });
  const LARGE = { hidden_size: 2048, cond_dim: 256, num_hidden_layers: 21, num_attention_heads: 32 };
  const TINY = { vocab_size: 30, hidden_size: 8, cond_dim: 4, num_hidden_layers: 1, num_attention_heads: 2 };

  for (const [name, changes, millions] of [
    ["0.17B", {}, 170],
    ["1.3B", LARGE, 1334],
  ] as const) {
    it(`are ${millions} million in the released ${name} student`, () => {
      const specs = architecture.weights(config(changes));
      const count = [...specs.values()].reduce((sum, { shape }) => sum + sizeOf(shape), 0);
      assert.equal(Math.round(count / 1e6), millions);
    });
  }

  it("begin as adaLN-zero: modulation, head and biases 0, gains 1, the rest drawn", () => {
    const drawn = initialise(architecture.weights(config(TINY)), Rng.named(0, "weights"));
    for (const [name, { data }] of drawn) {
      const zero = /adaLN_modulation|output_layer\.linear|\.bias$/.test(name);
      if (zero || /norm/.test(name)) assert.deepEqual([...new Set(data)], [zero ? 0 : 1], name);
      else assert.ok(new Set(data).size === data.length, name);
    }
  });

  it("are refused where the config has no such model", () => {
    for (const [changes, message] of [
      [{ attention: "causal" }, /fsdfm is bidirectional/],
      [{ num_attention_heads: 5 }, /hidden_size \(768\) must be num_attention_heads \(5\) times an even head size/],
      [{ cond_dim: 0, step_conditioned: "yes" }, /cond_dim[\s\S]*step_conditioned/],
    ] as const)
      assert.throws(() => architecture.weights(config(changes)), message);
  });
});
