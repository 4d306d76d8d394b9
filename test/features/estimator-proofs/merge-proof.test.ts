import assert from "node:assert/strict";
import { after, test } from "node:test";
import { measureMerge } from "../../../src/features/estimator-proofs/proofs/merge.js";
import { bindModel } from "../../../src/nn/bind.js";
import { microConfig } from "../../support/micro-config.js";
import { openOnTrial } from "../verify/on-trial.js";

test("an adapter that one module does without: the merged weights differ", async () => {
  const context = await openOnTrial(await microConfig());
  after(() => context.close());
  const [merge] = await measureMerge(context, (model, name, options) => {
    const targets = options.lora?.targets.filter((target) => target !== "v_proj") ?? [];
    return bindModel(model, name, { ...options, ...(options.lora && { lora: { ...options.lora, targets } }) });
  });
  assert.ok((merge?.measured as number) > 0.05, String(merge?.measured));
});
