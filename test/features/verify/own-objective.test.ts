import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { configOf } from "../../../src/config/config.js";
import { packageRoot } from "../../../src/core/files.js";
import { formatProofs, type ProofLine, verify } from "../../../src/features/verify/verify.js";
import { microConfig } from "../../support/micro-config.js";
import { ownFolder } from "../../support/own-modules.js";

const RIGHT = "e.neg(e.total(e.mul(weight, e.mul(advantage, logProb))))";

ownFolder({});

/** Verifies the micro model with the shipped example of an objective, changed. */
async function verified(
  changes: readonly (readonly [from: string, to: string])[],
  proof: string,
  objective?: string,
): Promise<ProofLine[]> {
  let text = readFileSync(join(packageRoot(), "examples", "objective.mjs"), "utf8");
  for (const [from, to] of [['name: "reinforce"', 'name: "mine"'] as const, ...changes]) {
    assert.ok(text.includes(from), from);
    text = text.replace(from, to);
  }
  const file = `./mine-${changes.length}-${text.length}.mjs`;
  writeFileSync(file, text);
  const { model, lora, runtime, sampler } = await microConfig();
  const config = await configOf({ model, lora, runtime, sampler, objective: { kind: file } }, "own.yaml");
  return verify({ config, objective, only: [proof], signal: new AbortController().signal });
}

it("an objective of one's own stands first, and is proved", async () => {
  const [first, ...others] = await verified([], "gradients");
  assert.match(first?.name ?? "", /^mine: /);
  // it stands for the scoring by steps
  assert.ok(others.length > 3 && others.every(({ name }) => !name.startsWith("flow-grpo")));
  const [signal] = await verified([], "signal", "mine");
  assert.deepEqual([signal?.pass, signal?.proved], [true, true]);
});

it("a loss of the wrong sign misses", async () => {
  const [first] = await verified([[RIGHT, "e.total(e.mul(weight, e.mul(advantage, logProb)))"]], "signal", "mine");
  assert.match(first?.name ?? "", /^mine: /);
  assert.equal(first?.pass, false);
  assert.match(formatProofs([first as ProofLine]), /MISS +signal/);
});

it("what teaches nothing, or cannot be scored, is not proved", async () => {
  const [idle] = await verified(
    [['episodeCredit(group, { advantage: "center", adv_clip_max })', "group.map(() => null)"]],
    "signal",
    "mine",
  );
  assert.deepEqual([idle?.name.split(":")[0], idle?.pass, idle?.proved], ["mine", true, false]);
  const [given] = await verified([['learnsFrom: "rollouts"', 'learnsFrom: "supervision"']], "on-policy");
  assert.match(
    formatProofs([given as ProofLine]),
    /not proved +objective +mine: cannot be scored here[\s\S]*from given answers/,
  );
});
