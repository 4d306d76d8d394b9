import assert from "node:assert/strict";
import { before, test } from "node:test";
import { UserError } from "../../src/core/errors.js";
import { textPolicy } from "../../src/diffusion/text-policy.js";
import type { SampledModel } from "../../src/diffusion/tokens.js";
import type { TokenTrajectory } from "../../src/diffusion/trajectory.js";
import { sampledModel } from "../../src/engine/policy.js";
import { loadModel, type Model } from "../../src/nn/model.js";
import { microModel } from "../support/micro-model.js";

let model: Model;
let about: SampledModel;
before(async () => {
  const { dir, remove } = await microModel();
  model = await loadModel(dir);
  about = sampledModel(model.config);
  remove();
});

const said = (response: readonly number[], ended: TokenTrajectory["ended"] = "eos"): TokenTrajectory => ({
  prompt: [0],
  responseLength: 8,
  temperature: 1,
  response,
  ended,
});

test("a rollout begins from the tokens of the text that is shown", () => {
  const start = textPolicy.begin({ text: "bca" }, model.tokenizer, about);
  assert.deepEqual([start, textPolicy.length?.(start)], [[1, 2, 0], 3]);
  assert.throws(
    () => textPolicy.begin({ vectors: { state: Float32Array.of(1) } }, model.tokenizer, about),
    (error: unknown) => error instanceof UserError && /shows no text/.test(error.message) && error.hint !== undefined,
  );
});

test("the action is the response's text without EOS", () => {
  const { eos } = about.tokens;
  assert.deepEqual(textPolicy.action(said([3, 4, eos]), model.tokenizer, about), { text: "de" });
  assert.deepEqual(textPolicy.action(said([3, 4], "length"), model.tokenizer, about), { text: "de" });
  assert.deepEqual(textPolicy.action(said([eos]), model.tokenizer, about), { text: "" });
});

test("each token of a response begins in the text behind those before it; EOS behind the last", () => {
  const { eos } = about.tokens;
  assert.deepEqual(textPolicy.offsets?.(said([3, 4, eos]), model.tokenizer, about), [0, 1, 2]);
  assert.deepEqual(textPolicy.offsets?.(said([eos]), model.tokenizer, about), [0]);
});

test("the units of a trajectory are its tokens, its measures their number and whether it ended by itself", () => {
  assert.equal(textPolicy.units(said([3, 4, about.tokens.eos])), 3);
  assert.deepEqual(textPolicy.metrics(said([3, 4, about.tokens.eos])), { response_length: 3, ended_by_eos: 1 });
  assert.deepEqual(textPolicy.metrics(said([3, 4], "length")), { response_length: 2, ended_by_eos: 0 });
});
