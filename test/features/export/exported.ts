import { join } from "node:path";
import { exportModel } from "../../../src/features/export/export.js";
import type { ExportOptions } from "../../../src/features/export/options.js";
import type { ModelConfig } from "../../../src/nn/config.js";
import { loadModel, type Model } from "../../../src/nn/model.js";
import { MICRO } from "../../support/micro-model.js";
import { temporaryFolder } from "../../support/temporary.js";

/** A micro model with grouped heads whose rows of 64 and more can be kept in 4 bits. */
export const FOUR_BITS: ModelConfig = {
  ...MICRO,
  ...{ hidden_size: 64, intermediate_size: 128, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16 },
};

/** Exports a checkpoint, by default in float32 and into a temporary folder. @returns the model. */
export async function exported(checkpoint: string, options: Partial<ExportOptions> = {}): Promise<Model> {
  const out = options.out ?? join(temporaryFolder("exported"), "model");
  await exportModel({ precision: "none", doubleQuant: false, ...options, checkpoint, out });
  return loadModel(out);
}
