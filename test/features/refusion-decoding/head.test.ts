import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { draftHead } from "../../../src/features/refusion-decoding/head.js";
import type { Value } from "../../../src/onnx/types.js";
import { about, argmax, close, evaluateOn, f32, i64, logSoftmax, normal } from "../../support/heads.js";
import { cpuRuntime } from "../../support/temporary.js";

const runtime = await cpuRuntime();

test("drafts the most probable token, and says how probable a given one is", async () => {
  const [vocabulary, tokens] = [9, { eos: 2, mask: 7, pad: 8 }];
  const rng = Rng.named(6, "drafts");
  const logits = [0, 1, 2, 3].map(() => [...normal(rng, 7), 20, 20]);
  const targets = [2, 0, 5, 1];
  const feeds = {
    logits: f32([4, vocabulary], logits.flat()),
    inverse_temperature: f32([], [1]),
    target: i64(targets),
  };
  const out = await evaluateOn(runtime, "drafts", feeds, (e, { logits: l, ...inputs }) =>
    draftHead.emit(e, { logits: l as Value }, inputs, about(tokens, vocabulary)),
  );
  const drafts = draftHead.read(out);
  const expected = logits.map((row) => logSoftmax(row, 1, [7, 8]));
  assert.deepEqual([...drafts.token].map(Number), expected.map(argmax));
  const wanted = expected.map((row) => Math.max(...row));
  close([...drafts.logProb], wanted);
  close(
    [...drafts.targetLogProb],
    expected.map((row, r) => row[targets[r] as number] as number),
  );
});
