import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { OFF_BY_PLAYWRIGHT } from "../../../src/env/browser/browser.js";

test("the features that Playwright turns off stay off: our list replaces its own", () => {
  const folder = dirname(createRequire(import.meta.url).resolve("playwright-core/package.json"));
  const bundle = readFileSync(join(folder, "lib/coreBundle.js"), "utf8");
  const [, list = ""] = /disabledFeatures = \[([^\]]*)\]/.exec(bundle) ?? [];
  const names = [...list.matchAll(/"(\w+)"/g)].map(([, name]) => name);
  assert.ok(names.length > 10);
  assert.deepEqual(OFF_BY_PLAYWRIGHT, names);
});
