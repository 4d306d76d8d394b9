import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { loadRegistries } from "../../src/config/registries.js";
import { packageRoot } from "../../src/core/files.js";

const root = packageRoot();
const folder = join(root, "configs", "papers");
const page = readFileSync(join(root, "docs", "objectives.md"), "utf8");

describe("settings of papers", () => {
  it("are there for every objective, load, and name their paper as the page does", async () => {
    const { objectives } = await loadRegistries();
    assert.deepEqual(readdirSync(folder).sort(), [...objectives.keys()].map((name) => `${name}.yaml`).sort());
    for (const name of objectives.keys()) {
      const path = join(folder, `${name}.yaml`);
      const config = await loadConfig(path, { command: name });
      assert.equal(config.objective.kind, name);
      const [, arxiv] = /arXiv (\d{4}\.\d{5})/.exec(readFileSync(path, "utf8")) ?? [];
      const row = page
        .split("\n")
        .find((line) => line.startsWith(`| [${name}](`) && line.includes(`../configs/papers/${name}.yaml`));
      assert.ok(arxiv !== undefined && row?.includes(`arxiv.org/abs/${arxiv})`), `${name}: ${row}`);
    }
  });
});
