import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../../../src/core/files.js";
import { train } from "../../../src/library/programs.js";
import type { Model } from "../../../src/nn/model.js";
import { readMetrics } from "../../../src/runs/metrics.js";
import { writeSafetensors } from "../../../src/weights/safetensors.js";
import { freshWeights } from "../../support/micro-model.js";
import { OWN_ENVIRONMENT, ownFolder } from "../../support/own-modules.js";
import { exported } from "./exported.js";

/** A Qwen3 of two narrow layers, with the tokenizer of the shipped models. */
const SIZES = {
  ...{ vocab_size: 1024, hidden_size: 32, intermediate_size: 48, num_hidden_layers: 2 },
  ...{ num_attention_heads: 4, num_key_value_heads: 2, head_dim: 8, rms_norm_eps: 1e-6, tie_word_embeddings: true },
  ...{ mask_token_id: 1023, eos_token_id: 1022, pad_token_id: 1021 },
};

describe("Tiny-A2D and BD3-LM: a Qwen3 without its causal mask", () => {
  const root = ownFolder({ "echo.mjs": OWN_ENVIRONMENT });

  /** Exports a checkpoint as it is published. @param more of its config.json. */
  const published = async (name: string, more: object): Promise<Model> => {
    const checkpoint = join(root, name);
    cpSync(join(packageRoot(), "models", "tiny-masked-lm", "tokenizer.json"), join(checkpoint, "tokenizer.json"));
    const bidirectional = { architecture: "masked_lm", attention: "bidirectional", rope_theta: 10000 } as const;
    const weights = await freshWeights({ ...SIZES, ...bidirectional }, 3);
    writeSafetensors(join(checkpoint, "model.safetensors"), weights, { format: "pt" });
    const said = { model_type: "a2d-qwen3", hidden_act: "silu", rope_theta: 10000, ...SIZES, ...more };
    writeFileSync(join(checkpoint, "config.json"), JSON.stringify(said));
    return exported(checkpoint);
  };

  for (const [name, more] of [
    ["a2d", {}],
    ["bd3lm", { block_size: 8 }],
  ] as const)
    it(`${name}: exports, and trains by flow-grpo and espo`, async () => {
      const { config, dir: model } = await published(name, more);
      assert.deepEqual(
        [config.architecture, config.attention, config.attention_block, config.shifted_logits ?? false],
        ["masked_lm", "bidirectional", name === "a2d" ? undefined : 8, false],
      );
      for (const kind of ["flow-grpo", "espo"]) {
        const runDir = join(root, `${name}-${kind}`);
        await train(
          {
            ...{ name: "a2d", model, objective: { kind }, environment: { kind: "./echo.mjs" } },
            sampler: { rounds: 4, slot_size: 2, prompt_length: 32, response_length: 24 },
            training: { steps: 2, prompts_per_step: 1, group_size: 4, learning_rate: 0.01 },
            ...{ runtime: { provider: "cpu", threads: 1 }, evaluation: { splits: [] }, report: { screenshots: 0 } },
          },
          { runDir },
        );
        const steps = readMetrics(join(runDir, "metrics.jsonl"));
        // what was sampled scores as it was: a replay that differed would have stopped the run
        assert.equal(steps.length, 2);
        for (const { grad_norm, frac_reward_zero_std } of steps)
          assert.ok(frac_reward_zero_std === 0 && (grad_norm as number) > 0, `${kind}: ${grad_norm}`);
      }
    });
});
