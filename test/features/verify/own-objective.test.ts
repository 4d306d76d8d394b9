import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { stringify } from "yaml";
import { configOf } from "../../../src/config/config.js";
import { packageRoot } from "../../../src/core/files.js";
import { formatProofs, type ProofLine, verify } from "../../../src/features/verify/verify.js";
import { callProgram } from "../../support/call-program.js";
import { microConfig } from "../../support/micro-config.js";
import { ownFolder } from "../../support/own-modules.js";

const RIGHT = "e.neg(e.total(e.mul(weight, e.mul(advantage, logProb))))";

const folder = ownFolder({});

/** Verifies the micro model with the shipped example of an objective, changed. */
async function verified(changes: Changes, proof: string, objective?: string): Promise<ProofLine[]> {
  const { model, lora, runtime, sampler } = await microConfig();
  const config = await configOf({ model, lora, runtime, sampler, objective: { kind: written(changes) } }, "own.yaml");
  return verify({ config, objective, only: [proof], signal: new AbortController().signal });
}

type Changes = readonly (readonly [from: string, to: string])[];

let files = 0;
/** Writes the shipped example with changes; returns its path. */
function written(changes: Changes): string {
  let text = readFileSync(join(packageRoot(), "examples", "objective.mjs"), "utf8");
  for (const [from, to] of [['name: "reinforce"', 'name: "mine"'] as const, ...changes]) {
    assert.ok(text.includes(from), from);
    text = text.replace(from, to);
  }
  const file = `./mine-${files++}.mjs`;
  writeFileSync(file, text);
  return file;
}

/** Adds a penalty to the reference: `add`, or with the sign turned `sub`. */
const penalty = (how: "add" | "sub"): Changes => [
  ["reference: false", "reference: true"],
  ["{ e, logProb, advantage, weight }", "{ e, logProb, reference, advantage, weight }"],
  [RIGHT, `e.${how}(${RIGHT}, e.total(e.mul(weight, e.mul(e.sub(logProb, reference), e.sub(logProb, reference)))))`],
];

it("an objective of one's own stands first, and is proved", async () => {
  const [first, ...others] = await verified([], "gradients");
  assert.match(first?.name ?? "", /^mine: /);
  // it stands for the scoring by steps
  assert.ok(others.length > 3 && others.every(({ name }) => !name.startsWith("flow-grpo")));
  // a factor of the loss raises the reward too
  assert.match(formatProofs(others), /not proved +objective +mine: its factor, and weights by length/);
  const [signal] = await verified([], "signal", "mine");
  assert.deepEqual([signal?.pass, signal?.proved], [true, true]);
});

it("a loss of the wrong sign misses", async () => {
  const [first] = await verified([[RIGHT, "e.total(e.mul(weight, e.mul(advantage, logProb)))"]], "signal", "mine");
  assert.match(first?.name ?? "", /^mine: /);
  assert.equal(first?.pass, false);
  assert.match(formatProofs([first as ProofLine]), /MISS +signal/);
});

it("a penalty leads toward the reference, and one of the wrong sign misses", async () => {
  for (const [how, pass] of [
    ["add", true],
    ["sub", false],
  ] as const) {
    const [line] = await verified(penalty(how), "objective-ratio", "mine");
    assert.deepEqual([line?.name, line?.pass, line?.proved], ["mine: penalty to the reference", pass, true]);
  }
});

it("a loss of a thousand times the size shows it", async () => {
  const sizes = [];
  for (const loss of [RIGHT, `e.mul(${RIGHT}, 1000)`]) {
    const [signal] = await verified([[RIGHT, loss]], "signal", "mine");
    sizes.push(Number(/size (\S+);/.exec(signal?.detail ?? "")?.[1]));
  }
  const [usual, large] = sizes as [number, number];
  assert.ok(usual > 0.1 && usual < 10 && Math.abs(large / usual / 1000 - 1) < 0.1, `${sizes}`);
});

it("is found by its name, or its path", async () => {
  const { model, lora, runtime, sampler } = await microConfig();
  const file = written([]);
  const path = join(folder, "named.yaml");
  for (const [objective, config] of [
    ["mine", { model, lora, runtime, sampler, objective: { kind: file } }],
    [file, { model, lora, runtime, sampler }],
  ] as const) {
    writeFileSync(path, stringify(config));
    const asked = ["verify", "--config", path, "--objective", objective, "--only", "gradients"];
    const { code, out, err } = await callProgram("train", folder, asked);
    assert.equal(code, 0, err);
    assert.match(out, /^ok +gradients +mine: gradient of the loss/m);
  }
});

it("what teaches nothing, or cannot be scored, is not proved", async () => {
  const credit = 'episodeCredit(group, { advantage: "center", adv_clip_max })';
  const [idle] = await verified([[credit, "group.map(() => null)"]], "signal", "mine");
  assert.deepEqual([idle?.name.split(":")[0], idle?.pass, idle?.proved], ["mine", true, false]);
  const given = (await verified([['learnsFrom: "rollouts"', 'learnsFrom: "supervision"']], "on-policy")).at(-1);
  const table = formatProofs([given as ProofLine]);
  assert.match(table, /not proved +objective +mine: cannot be scored here[\s\S]*from given answers/);
});
