import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { callProgram } from "../../support/call-program.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("cli-new-model");

test("new-model finds a shipped config from any folder, and says what is missing in one", async () => {
  const run = (config: string) => callProgram("train", dir, ["new-model", "--config", config, "--out", "model"]);
  const shipped = await run("configs/tiny/rl.yaml");
  assert.equal(shipped.code, 2);
  const wanted = /\S+configs\/tiny\/rl\.yaml is not usable:\n[\s\S]* {2}model: expected object[\s\S]*next: /;
  assert.match(shipped.err, wanted);
  writeFileSync(join(dir, "mine.yaml"), "synthetic_tasks: 0\nmodel: {architecture: refusion, attention: causal}\n");
  const mine = await run("mine.yaml");
  assert.notEqual(mine.code, 0);
  assert.match(mine.err, /num_hidden_layers: is missing/);
  assert.doesNotMatch(mine.err, /undefined/);
  assert.deepEqual(readdirSync(dir), ["mine.yaml"], "nothing is left");
});
