import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formOf, isProjection } from "../../../src/features/export/forms.js";

describe("forms of weights", () => {
  it("are 4 bits for projections, under each family's names", () => {
    const projections = [
      "model.layers.0.self_attn.q_proj.weight",
      "model.layers.0.mlp.down_proj.weight",
      "blocks.3.attn_out.weight",
      ...["q_proj", "attn_out", "ff_proj", "up_proj", "ff_out"].map((n) => `model.transformer.blocks.11.${n}.weight`),
    ];
    for (const name of projections) {
      assert.ok(isProjection(name), name);
      assert.equal(formOf(name, [64, 64], "bfloat16", "nf4", false), "nf4");
    }
    // LLaDA's head is called as its down projections are
    for (const name of ["model.transformer.ff_out.weight", "lm_head.weight", "model.transformer.wte.weight"]) {
      assert.ok(!isProjection(name), name);
      assert.equal(formOf(name, [64, 64], "bfloat16", "nf4", false), "bfloat16");
    }
    // what was quantised, and is no projection, is kept in full
    assert.equal(formOf("lm_head.weight", [64, 64], "uint8", "nf4", false), "float32");
    assert.equal(formOf("model.layers.0.self_attn.q_proj.bias", [64], "bfloat16", "nf4", false), "float32");
  });
});
