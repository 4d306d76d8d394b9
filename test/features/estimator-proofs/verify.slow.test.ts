import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it, test } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { packageRoot } from "../../../src/core/files.js";
import { measureElbo } from "../../../src/features/estimator-proofs/proofs/elbo.js";
import { measureObjectiveRatio } from "../../../src/features/estimator-proofs/proofs/objective-ratio.js";
import { measureProbabilities } from "../../../src/features/estimator-proofs/proofs/probabilities.js";
import { measureZeroScore } from "../../../src/features/estimator-proofs/proofs/zero-score.js";
import { openContext } from "../../../src/features/verify/context.js";
import type { Measurement, VerifyContext } from "../../../src/features/verify/proof.js";
import { measureOnPolicy } from "../../../src/features/verify/proofs/on-policy.js";
import { findPrompts } from "../../../src/features/verify/verify.js";
import { objective as espo } from "../../../src/rl/objectives/espo.js";
import { assertMisses } from "../verify/on-trial.js";
import { freshMasks, sampledConfidence, sizesFromOne, wrongTemperature } from "./broken-estimators.js";
import { FAMILIES, shipped } from "./shipped.js";

const configs = await shipped();

test("every shipped model has a config to be verified with", () => {
  const covered = new Set([...configs.values()].map((config) => config.model));
  const folders = readdirSync(join(packageRoot(), "models")).map((name) => `models/${name}`);
  // the others hold an adapter alone, or a model that is fetched and has no card
  const models = folders.filter((folder) =>
    ["config.json", "README.md"].every((file) => existsSync(join(packageRoot(), folder, file))),
  );
  assert.notEqual(models.length, 0);
  assert.deepEqual(
    models.filter((folder) => !covered.has(folder)),
    [],
  );
  const unproven = [...configs.keys()].filter((name) => !FAMILIES.some((family) => name.includes(family)));
  assert.deepEqual(unproven, []);
});

describe("broken estimators on the shipped model", () => {
  let context: VerifyContext & { close(): Promise<void> };
  const quickstart = join(packageRoot(), "configs", "tiny", "quickstart.yaml");
  before(async () => {
    const trial = { objective: espo, options: espo.schema.parse({}) };
    const config = await loadConfig(quickstart);
    context = await openContext(config, [trial], (policy) => findPrompts(config, policy));
  });
  after(() => context.close());

  const broken: Readonly<Record<string, () => Promise<Measurement[]>>> = {
    "slots chosen by the sampled token, outcomes": async () =>
      (await measureProbabilities(context, sampledConfidence)).slice(-1),
    "temperature mismatch, mean score": async () => (await measureZeroScore(context, wrongTemperature)).slice(-1),
    "temperature mismatch, replay": () => measureOnPolicy(context, wrongTemperature),
    "fresh masks": () => measureObjectiveRatio(context, freshMasks),
    "sizes from 1..L": async () => (await measureElbo(context, sizesFromOne)).slice(0, 2),
  };
  for (const [fault, measure] of Object.entries(broken)) {
    it(`finds: ${fault}`, () => assertMisses(measure()));
  }
});
