import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { configDifferences, loadConfig } from "../../../src/config/config.js";
import { UserError } from "../../../src/core/errors.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("mlflow-config");

test("no problem shows the password of an address, wherever it was typed", async () => {
  const secret = "geheim";
  const path = join(dir, "secret.yaml");
  const known = [`http://user:${secret}@host:5000`, `htp://user:${secret}@host`];
  const uris = [...known, `http://user:${secret}/${secret}@host`, `http://user:${"x".repeat(90)}${secret}@host`];
  for (const uri of uris) {
    writeFileSync(path, `model: models/tiny-refusion\ntracking: { mlflow: { uri: "${uri}", experiment: 3 } }\n`);
    const typed = [[], [`tracking.mlflow.uri=${uri}`], [`tracking.mlflow.urii=${uri}`], [`seed=${uri}`]];
    for (const overrides of typed)
      await assert.rejects(
        loadConfig(path, { command: "espo", overrides }),
        (error) =>
          error instanceof UserError && /mlflow/.test(error.message) && !/geheim|xxx/.test(error.message + error.hint),
        uri,
      );
  }
  const changed = configDifferences({ uri: uris[0] }, { uri: uris[1] });
  assert.deepEqual(changed, ['uri: "http://***@host:5000" -> "htp://***@host"']);
});
