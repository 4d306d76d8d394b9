import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("owners");

test("a section or key of another kind than paper is named with the kind that has it", async () => {
  const file = join(dir, "config.yaml");
  writeFileSync(file, "model: models/tiny-refusion\n");
  const load = (...overrides: string[]): Promise<unknown> => loadConfig(file, { command: "flow-grpo", overrides });
  await assert.rejects(
    load("environment.kind=paper", "browser.headless=false"),
    /browser.* unknown key; it belongs to environment\.kind forms.*, and this config's kind is paper/,
  );
  await assert.rejects(load("environment.letters=1"), /environment\.letters .*it belongs to environment\.kind .*paper/);
});
