import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { baseSample, checkBase } from "../../../src/engine/base-sample.js";
import { loadModel } from "../../../src/nn/model.js";
import { STATE } from "../../../src/runs/checkpoint.js";
import { PRECISIONS } from "../../../src/weights/precision.js";
import { temporaryFolder } from "../../support/temporary.js";
import { exported } from "./exported.js";

const root = temporaryFolder("base");

test("an adapter is taken for its own base in any precision, and for no other model of its shapes", async () => {
  const base = await loadModel("models/tiny-refusion");
  writeFileSync(join(root, STATE), JSON.stringify({ state: { base: baseSample(base) } }));
  for (const precision of PRECISIONS) checkBase(root, await exported("models/tiny-refusion", { precision }));
  for (const other of ["models/tiny-refusion-template", "models/tiny-refusion-letters", "models/tiny-masked-lm"]) {
    const model = await loadModel(other);
    assert.throws(() => checkBase(root, model), /was trained on another model than models\/tiny/);
  }
});

test("a directory that says nothing of its base is taken", async () => {
  const model = await loadModel("models/tiny-refusion");
  for (const text of ["{", "[]", '{"state":{"base":["x"]}}', '{"state":{}}']) {
    const dir = temporaryFolder("none");
    if (text !== "{") writeFileSync(join(dir, STATE), text);
    checkBase(dir, model);
  }
});
