import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CliProcess } from "../../support/cli-process.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("cli-new-model");

test("new-model finds a shipped config from any folder, and says what is missing in one", async () => {
  const run = (config: string) =>
    new CliProcess(["new-model", "--config", config, "--out", "model"], { cwd: dir }).ended;
  const shipped = await run("configs/tiny/rl.yaml");
  assert.equal(shipped.code, 2);
  assert.match(
    shipped.err,
    /\S+configs\/tiny\/rl\.yaml is not usable:\n[\s\S]* {2}model: expected object[\s\S]*next: /,
  );
  writeFileSync(join(dir, "mine.yaml"), "synthetic_tasks: 0\nmodel: {architecture: refusion, attention: causal}\n");
  const mine = await run("mine.yaml");
  assert.notEqual(mine.code, 0);
  assert.match(mine.err, /num_hidden_layers: is missing/);
  assert.doesNotMatch(mine.err, /undefined/);
  assert.deepEqual(readdirSync(dir), ["mine.yaml"], "nothing is left");
});
