import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../../src/core/files.js";
import { FAMILIES, shipped } from "./shipped.js";

test("every shipped model has a config to be verified with", async () => {
  const configs = await shipped();
  const covered = new Set([...configs.values()].map((config) => config.model));
  const folders = readdirSync(join(packageRoot(), "models")).map((name) => `models/${name}`);
  // the others hold an adapter alone, or a model that is fetched and has no card
  const models = folders.filter((folder) =>
    ["config.json", "README.md"].every((file) => existsSync(join(packageRoot(), folder, file))),
  );
  assert.notEqual(models.length, 0);
  const actual = models.filter((folder) => !covered.has(folder));
  assert.deepEqual(actual, []);
  const unproven = [...configs.keys()].filter((name) => !FAMILIES.some((family) => name.includes(family)));
  assert.deepEqual(unproven, []);
});
