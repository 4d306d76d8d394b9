import assert from "node:assert/strict";
import { test } from "node:test";
import type { Template } from "../../src/core/interaction.js";
import { decodeValue, encodeValue, type OpenBlank, type TemplateStart } from "../../src/diffusion/template.js";
import { roundTexts, textPolicy } from "../../src/diffusion/text-policy.js";
import type { TokenTrajectory } from "../../src/diffusion/trajectory.js";
import { sampledModel } from "../../src/engine/policy.js";
import { loadModel } from "../../src/nn/model.js";
import { Tokenizer } from "../../src/text/tokenizer.js";
import { microModel } from "../support/micro-model.js";
import { userError } from "../support/user-error.js";

const model = await loadModel(await microModel());
const about = sampledModel(model.config);

const options = { responseLength: 16, promptLength: 4, temperature: 1, model: about };

const said = (response: readonly number[], ended: TokenTrajectory["ended"] = "eos"): TokenTrajectory => {
  return { prompt: [0], responseLength: 8, temperature: 1, response, ended };
};

test("a rollout begins from the tokens of the text that is shown", () => {
  const start = textPolicy.begin({ text: "bca" }, model.tokenizer, about);
  assert.deepEqual([start, textPolicy.length?.(start)], [[1, 2, 0], 3]);
  const vectors = { state: Float32Array.of(1) };
  const none = userError(/shows no text/, { hint: /./ });
  assert.throws(() => textPolicy.begin({ vectors }, model.tokenizer, about), none);
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
  assert.deepEqual(textPolicy.metrics(said([3, 4, about.tokens.eos]), about), { response_length: 3, ended_by_eos: 1 });
  assert.deepEqual(textPolicy.metrics(said([3, 4], "length"), about), { response_length: 2, ended_by_eos: 0 });
});

const TEMPLATE: Template = {
  parts: ["ab", { name: "x", kind: "text" }, "c", { name: "y", kind: "choice", options: ["d", "ea"] }],
};
const filled = (response: readonly number[]): TokenTrajectory => ({
  ...said(response, "length"),
  template: [[0, 1], { name: "x", room: 3 }, [2], { name: "y", room: 3 }],
  responseLength: 6,
});

test("with a template a rollout begins from what is given and what is blank; nothing given is a special token", () => {
  const start = textPolicy.begin({ text: "bca", template: TEMPLATE }, model.tokenizer, about);
  assert.ok("parts" in start);
  assert.deepEqual([start.prompt, start.parts.length], [[1, 2, 0], 4]);
  const [, x, , y] = start.parts as readonly OpenBlank[];
  assert.deepEqual([x?.name, x?.needs, x?.whole], ["x", undefined, undefined]);
  // needs the longest option and its end
  assert.deepEqual([y?.name, y?.needs, y?.whole], ["y", 3, true]);
  assert.equal(textPolicy.canvas?.([1, 2], { ...options, room: 5 }), 0);
});

test("a space before a blank stands with the value, and nothing given is a special token, however it is spelled", () => {
  const tokenizer = Tokenizer.load("models/tiny-refusion");
  const mask = tokenizer.idOf("<|mask|>") as number;
  const line = "fill <|mask|> Name | ";
  const { parts } = textPolicy.begin(
    { text: "a", template: { parts: [line, { name: "x", kind: "text" }] } },
    tokenizer,
    about,
  ) as TemplateStart;
  const [given, blank] = parts as [number[], OpenBlank];
  assert.equal(`${tokenizer.decode(given)} `, line);
  assert.deepEqual([given.includes(mask), blank.space], [false, true]);
  for (const value of ["Ann Lee", "77", "", "<|mask|>"]) {
    const tokens = encodeValue(value, true, tokenizer);
    assert.equal(decodeValue(tokens, true, tokenizer), value);
    assert.ok(!tokens.includes(mask));
    const said: TokenTrajectory = {
      prompt: [0],
      template: [given, { name: "x", room: 24, space: true }],
      responseLength: 24,
      temperature: 1,
      response: [...tokens, tokenizer.idOf("<|im_end|>") as number],
      ended: "eos",
    };
    const eos = { ...about, tokens: { ...about.tokens, eos: tokenizer.idOf("<|im_end|>") as number } };
    const { text = "", values } = textPolicy.action(said, tokenizer, eos);
    assert.deepEqual([text, values], [line + value, { x: value }]);
    // the tokens start inside the value, the end token after it
    const offsets = textPolicy.offsets?.(said, tokenizer, eos) ?? [];
    assert.deepEqual([offsets[0], offsets.at(-1)], [line.length, text.length]);
  }
});

test("the action is the template with its values, and says which were cut", () => {
  const { eos } = about.tokens;
  const action = textPolicy.action(filled([3, eos, 4, 0, 1]), model.tokenizer, about);
  assert.deepEqual(action, { text: "abdceab", values: { x: "d", y: "eab" }, cut: ["y"] });
  assert.deepEqual(textPolicy.offsets?.(filled([3, eos, 4, 0, 1]), model.tokenizer, about), [2, 3, 4, 5, 6]);
  const metrics = { response_length: 5, ended_by_eos: 0, blanks_cut: 0.5 };
  assert.deepEqual(textPolicy.metrics(filled([3, eos, 4, 0, 1]), about), metrics);
});

test("rounds show what is revealed so far, and where more follows", () => {
  const { eos } = about.tokens;
  const trajectory: TokenTrajectory = {
    ...said([3, 4, eos, 1, eos]),
    template: [[0, 1], { name: "x", room: 4 }, [2], { name: "y", room: 4 }],
  };
  // indexed by cell: x has the cells 0 to 3, y 4 to 7
  const steps = ["01", "12", "22", "40", "51"].map((digits) => [...digits].map(Number) as [number, number]);
  const reveals = steps.map(([position, step], i) => {
    return { position, step, token: trajectory.response[i] as number, logProb: 0 };
  });
  assert.deepEqual(roundTexts(trajectory, reveals, model.tokenizer, eos), ["ab…cb…", "abd…cb", "abdecb"]);
  const free = said([3, 4, eos]);
  const both = free.response.map((token, i) => ({ position: i, token, step: i, logProb: 0 }));
  assert.deepEqual(roundTexts(free, both, model.tokenizer, eos), ["d…", "de…", "de"]);
});

test("an example of a template holds each value with its end, and is refused where one does not fit", () => {
  const { eos } = about.tokens;
  const observation = { text: "bca", template: TEMPLATE };
  const example = (values: Record<string, string>, room = 3) => {
    const shown = { observation, action: { text: "free", values } };
    return textPolicy.example(shown, model.tokenizer, { ...options, room });
  };
  assert.deepEqual(example({ x: "de", y: "ea" }), {
    prompt: [1, 2, 0],
    template: [[0, 1], { name: "x", room: 3 }, [2], { name: "y", room: 3 }],
    response: [3, 4, eos, 4, 0, eos],
  });
  assert.deepEqual(example({ y: "d" }).unlabelled, new Set([0]), "a blank without a value has no label");
  assert.throws(() => example({}), /gives no blank a value/);
  assert.throws(() => example({ x: "dea" }), /the value of x with its end 4 of 3 tokens/);
  assert.throws(() => example({}, 20), /template 26 of 16 tokens/);
});
