import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, test } from "node:test";
import { loadConfig } from "../../../../src/config/config.js";
import type { UserError } from "../../../../src/core/errors.js";
import type { Spaces } from "../../../../src/core/interaction.js";
import type { SamplerOptions } from "../../../../src/diffusion/sampler.js";
import { sampler as unmask } from "../../../../src/diffusion/samplers/unmask.js";
import { checkSpaces, sampledModel } from "../../../../src/engine/policy.js";
import { assertScored, objectiveRefusal } from "../../../../src/engine/scoring-check.js";
import { sampler as flow } from "../../../../src/features/control/samplers/flow.js";
import { sampler as jump } from "../../../../src/features/fsdfm/samplers/jump.js";
import { objective as flowRl } from "../../../../src/features/objectives/objectives/flowrl.js";
import { objective as espo } from "../../../../src/rl/objectives/espo.js";
import { objective as flowGrpo } from "../../../../src/rl/objectives/flow-grpo.js";
import { callProgram } from "../../../support/call-program.js";
import { temporaryFolder } from "../../../support/temporary.js";
import { objectiveOptions, only } from "../../../support/typed.js";
import { userError } from "../../../support/user-error.js";
import { FOR_CONTROL, velocityModel } from "../velocity-model.js";

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

const dir = temporaryFolder("init-control");

test("a network that reads no tokens gets an environment of actions", async () => {
  const { dir: model } = await velocityModel(undefined, { ...FOR_CONTROL, depth: 8 });
  const out = join(dir, "control.yaml");
  const asked = ["init", "--model", model, "--out", out, "environment.depth=8"];
  const { code, err } = await callProgram("train", dir, asked);
  assert.equal(code, 0, err);
  const { environment, sampler } = await loadConfig(out, { command: "flow-grpo" });
  assert.deepEqual([environment.kind, sampler.kind], ["control", "flow"]);
  assert.doesNotMatch(readFileSync(out, "utf8"), /^(site|prompt|browser):/m);
});

const control = only<SamplerOptions>({ temperature: 0.6, model: { network: {} } });
const text = only<SamplerOptions>({ temperature: 1, model: { attention: "causal" } });

test("what cannot learn from a policy of actions is refused, with an objective that can", () => {
  assert.equal(objectiveRefusal(flowGrpo, flow as never, control), undefined);
  for (const [objective, reason] of [
    [flowRl, /^flowrl does not work here: it reads the hidden states of a prompt's tokens, and this model reads none/],
    [espo, /^espo does not work here: its sampler has no bound/],
  ] as const)
    assert.throws(
      () => assertScored(objective, flow as never, control),
      userError(reason, { hint: /^Use objective\.kind=flow-grpo/ }),
    );
  assert.equal(objectiveRefusal(flowRl, unmask as never, text), undefined);
});

test("credit a part is refused where a token is drawn more than once", () => {
  const needsOf = (turn_credit: string) =>
    flowGrpo.needs(objectiveOptions(flowGrpo, { turn_credit, ratio_level: "token" }));
  const flowOfText = only<SamplerOptions>({ temperature: 1, model: { attention: "bidirectional" } });
  assert.throws(
    () => assertScored(flowGrpo, jump as never, flowOfText, needsOf("part")),
    userError(/^flow-grpo does not work here: credit a part of an answer needs/, {
      hint: /objective\.turn_credit=episode/,
    }),
  );
  assert.equal(objectiveRefusal(flowGrpo, jump as never, flowOfText, needsOf("turn")), undefined);
  assert.equal(objectiveRefusal(flowGrpo, unmask as never, text, needsOf("part")), undefined);
});
