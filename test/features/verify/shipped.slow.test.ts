import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { packageRoot } from "../../../src/core/files.js";
import { formatProofs, type VerifyOptions, verify } from "../../../src/features/verify/verify.js";
import { objectiveOf } from "../../../src/rl/objective-kinds.js";
import { smallModel } from "../../support/small-model.js";
import { FAMILIES, shipped } from "./shipped.js";

/** How a model samples and is scored: the rest is proved of micro models of its architecture (blocks, verify-flow). */
const LIKELIHOOD = ["on-policy"];

/** What depends on the options of an objective. */
const OF_OBJECTIVE = ["gradients", "objective-ratio"];

const papers = join(packageRoot(), "configs", "papers");
for (const file of readdirSync(papers)) {
  const name = file.replace(".yaml", "");
  if ((await objectiveOf(name)).learnsFrom === "supervision") continue;
  test(`gradients, ratio and penalty hold for a paper's settings: ${name}`, async () => {
    const path = join(papers, file);
    const { model } = await loadConfig(path, { command: name });
    // the settings are a paper's; whole models stand below
    const config = await loadConfig(path, { command: name, overrides: [`model=${await smallModel(0, model)}`] });
    await assertProved({ config, objective: name, only: OF_OBJECTIVE });
  });
}

// as free text: templates.slow.test.ts proves what blanks change
for (const [name, config] of await shipped()) {
  if (config.plan === "template") continue;
  const only = name.includes(FAMILIES[0]) ? [] : LIKELIHOOD;
  test(`every proof holds: ${name}`, () => assertProved({ config, objective: undefined, only }));
}

async function assertProved(options: Pick<VerifyOptions, "config" | "objective" | "only">): Promise<void> {
  const lines = await verify({ ...options, signal: new AbortController().signal });
  assert.ok(!lines.some(({ pass }) => !pass), formatProofs(lines));
}
