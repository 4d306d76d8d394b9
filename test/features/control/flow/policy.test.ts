import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { UserError } from "../../../../src/core/errors.js";
import type { Spaces } from "../../../../src/core/interaction.js";
import { sampler as unmask } from "../../../../src/diffusion/samplers/unmask.js";
import { checkSpaces, sampledModel } from "../../../../src/engine/policy.js";
import { sampler as flow } from "../../../../src/features/control/samplers/flow.js";
import { FOR_CONTROL } from "../velocity-model.js";

const SPACES: Spaces = { observation: { state: [14] }, action: [4, 4] };
const SEEN: Spaces = { observation: { state: [7], depth: [16, 16] }, action: [4, 4] };

describe("a model in the spaces of an environment", () => {
  /** What is said of it: message and hint. */
  const refusal = (spaces: Spaces | undefined, model: object = {}, policy: object = flow): string => {
    const options = { model: sampledModel({ ...FOR_CONTROL, ...model }) };
    const environment = spaces === undefined ? { name: "here" } : { name: "here", spaces };
    try {
      checkSpaces(environment, { sampler: policy, options } as unknown as Parameters<typeof checkSpaces>[1]);
      return "";
    } catch (error) {
      const { message, hint, exitCode } = error as UserError;
      assert.equal(exitCode, 2);
      return `${message} ${hint}`;
    }
  };

  it("acts where they are its own", () => {
    assert.equal(refusal(SPACES), "");
    assert.equal(refusal(SEEN, { state_size: 7, depth: 16 }), "");
    assert.equal(refusal(undefined, {}, unmask), "");
  });

  it("is refused by the names of both sides' settings where they are not", () => {
    assert.match(refusal(SEEN, { depth: 16 }), /7 numbers \(environment.state\).* 14 \(state_size\)/);
    assert.match(refusal(SEEN, { state_size: 7 }), /environment.depth=16\), and the model reads no depth image/);
    assert.match(refusal(SPACES, { depth: 8 }), /shows no depth image .*8 x 8 \(depth: 8\)/);
    assert.match(refusal(SPACES, { chunk: 8 }), /takes 4 actions at once \(environment.chunk\).* 8 \(chunk\)/);
    assert.match(refusal(SPACES, { action_size: 2 }), /4 numbers, and those of the model 2 \(action_size\)/);
    assert.match(refusal(SPACES, { chunk: 8, state_size: 3 }), /state_size\); it takes/);
  });

  it("is refused where one of the two is of text", () => {
    assert.match(refusal(undefined), /here shows texts.*environment.kind=control/);
    assert.match(refusal(SPACES, {}, unmask), /reads and writes texts.*sampler.kind=flow/);
  });
});
