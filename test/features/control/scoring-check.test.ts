import assert from "node:assert/strict";
import { test } from "node:test";
import type { SamplerOptions } from "../../../src/diffusion/sampler.js";
import { sampler as unmask } from "../../../src/diffusion/samplers/unmask.js";
import { assertScored, objectiveRefusal } from "../../../src/engine/scoring-check.js";
import { sampler as flow } from "../../../src/features/control/samplers/flow.js";
import { sampler as jump } from "../../../src/features/fsdfm/samplers/jump.js";
import { objective as flowRl } from "../../../src/features/objectives/objectives/flowrl.js";
import { objective as espo } from "../../../src/rl/objectives/espo.js";
import { objective as flowGrpo } from "../../../src/rl/objectives/flow-grpo.js";
import { objectiveOptions, only } from "../../support/typed.js";
import { userError } from "../../support/user-error.js";

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
