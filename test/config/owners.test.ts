import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { UserError } from "../../src/core/errors.js";
import { temporaryFolder } from "../support/temporary.js";

const dir = temporaryFolder("owners");

async function problemsOf(...overrides: string[]): Promise<string> {
  const file = join(dir, "config.yaml");
  writeFileSync(file, "model: models/tiny-refusion\n");
  try {
    await loadConfig(file, { command: "flow-grpo", overrides });
  } catch (error) {
    assert.ok(error instanceof UserError);
    assert.ok(error.hint);
    return error.message;
  }
  return "";
}

test("a section or key of another kind is named with the kind that has it", async () => {
  assert.match(
    await problemsOf("objective.mc_samples=3"),
    /objective\.mc_samples .*it belongs to objective\.kind .*espo/,
  );
});

test("a module of the user's without a schema is refused", async () => {
  const module = join(dir, "site.mjs");
  writeFileSync(module, "export const site = { start() {} };");
  assert.match(
    await problemsOf(`site.kind=${module}`),
    /site\.mjs:1: this site is not complete:\n {2}schema: expected an object, is missing/,
  );
});
