import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { evaluateCommand } from "../../src/train/evaluate.js";
import type { EvaluateOptions } from "../../src/train/types.js";

const dir = mkdtempSync(join(tmpdir(), "evaluate-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const config = join(dir, "eval.yaml");
writeFileSync(
  config,
  "model: models/tiny-refusion\nsite: { kind: embedded, sizes: { train: 1, val: 0, test: 0, heldout: 1 } }\n",
);
const options = (changes: Partial<EvaluateOptions>): EvaluateOptions => ({
  run: undefined,
  config,
  overrides: [],
  checkpoint: "last",
  split: "all",
  policy: "oracle",
  episodes: "all",
  quiet: true,
  json: false,
  signal: new AbortController().signal,
  ...changes,
});

test("an interrupt ends an evaluation at once", async () => {
  const controller = new AbortController();
  const evaluating = evaluateCommand(options({ episodes: 100_000, policy: "empty", signal: controller.signal }));
  controller.abort();
  await assert.rejects(evaluating, { name: "AbortError" });
});
