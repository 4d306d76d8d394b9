import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { packageRoot } from "../../src/core/files.js";

const scripts = join(packageRoot(), "scripts");
const build = join(packageRoot(), "dist", "src");

/** A module of the build that a script takes names from. */
interface Taken {
  readonly script: string;
  readonly module: string;
  readonly names: readonly string[];
}

/** What a script takes: `await load("core/rng.js")`, or an import of "../dist/src/...", with the names in its braces. */
function takenBy(script: string): Taken[] {
  const text = readFileSync(join(scripts, script), "utf8");
  const pattern =
    /(?:(?:import|const)\s*\{([^}]*)\}\s*(?:from|=)\s*)?(?:await load\()?"((?:\.[^"]*\/dist\/)?[^"]+\.js)"/g;
  return [...text.matchAll(pattern)]
    .filter(([whole, , path]) => whole.includes("await load(") || path?.includes("/dist/src/"))
    .map(([, names = "", path = ""]) => ({
      script,
      module: path.startsWith(".") ? resolve(scripts, dirname(script), path) : join(build, path.replace(/^src\//, "")),
      names: names
        .split(",")
        .map((name) => name.trim().split(/[\s:]/, 1)[0] as string)
        .filter((name) => name !== ""),
    }));
}

describe("scripts", () => {
  // nothing compiles them, and most are run by slow tests or by hand
  it("take only what the build's modules export", async () => {
    const taken = readdirSync(scripts, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".mjs"))
      .flatMap(takenBy)
      // a feature's folder may have been deleted
      .filter(({ module }) => !module.includes("features") || existsSync(dirname(module)));
    assert.ok(taken.length > 50, `only ${taken.length} found`);
    for (const { script, module, names } of taken) {
      const exports = (await import(pathToFileURL(module).href)) as object;
      for (const name of names) assert.ok(name in exports, `scripts/${script}: ${name} is not in ${module}`);
    }
  });
});
