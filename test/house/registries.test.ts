import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { packageRoot } from "../../src/core/files.js";
import { namesInFolder } from "../../src/core/registry.js";

describe("registries", () => {
  it("have two entries or more: what has one is a plain import, or a row of core/features.ts", async () => {
    const root = join(packageRoot(), "src");
    const compiled = pathToFileURL(join(packageRoot(), "dist", "src", "/"));
    let registries = 0;
    for (const path of readdirSync(root, { recursive: true, encoding: "utf8" })) {
      const text = path.endsWith(".ts") ? readFileSync(join(root, path), "utf8") : "";
      if (!text.includes('core/registry.js"')) continue;
      for (const [, folder = ""] of text.matchAll(/new URL\("(\.[\w./-]+\/)", import\.meta\.url\)/g)) {
        const names = await namesInFolder(new URL(folder, new URL(path, compiled)));
        assert.ok(names.length > 1, `${path}: ${folder} has the entries [${names.join()}]`);
        registries++;
      }
    }
    assert.ok(registries > 10);
  });
});
