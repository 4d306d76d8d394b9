import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { packageRoot } from "../../src/core/files.js";

describe("the config's JSON Schema", () => {
  it("is the one in docs/: npm run config-schema writes it anew", async () => {
    const path = join(packageRoot(), "docs", "config.schema.json");
    const script = pathToFileURL(join(packageRoot(), "scripts", "lib", "json-schema.mjs")).href;
    const { configJsonSchema } = (await import(script)) as { configJsonSchema: () => Promise<unknown> };
    assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), await configJsonSchema());
  });

  it("is named by every shipped config of a run", () => {
    const root = join(packageRoot(), "configs");
    const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".yaml"));
    const runs = files.filter((file) => !/model(?:-\w+)?\.yaml$/.test(file));
    assert.ok(runs.length >= 15);
    for (const file of runs) {
      const [first] = readFileSync(join(root, file), "utf8").split("\n");
      assert.equal(first, "# yaml-language-server: $schema=../../docs/config.schema.json", file);
    }
  });
});
