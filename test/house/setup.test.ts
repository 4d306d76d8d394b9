import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { packageRoot } from "../../src/core/files.js";
import { temporaryFolder } from "../support/temporary.js";

const setup = (await import(pathToFileURL(join(packageRoot(), "scripts", "lib", "setup.mjs")).href)) as {
  packagesAreCurrent(root: string): boolean;
  removeOrphans(root: string): void;
};

describe("set-up", () => {
  let root = "";
  beforeEach(() => {
    root = temporaryFolder("setup");
  });

  const write = (path: string, content: unknown): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), JSON.stringify(content));
  };
  const packages = (lock: object, installed: object): boolean => {
    write("package-lock.json", { packages: { "": { version: "1.0.0" }, ...lock } });
    write("node_modules/.package-lock.json", { packages: installed });
    return setup.packagesAreCurrent(root);
  };

  it("sees packages that are missing, old or for another platform", () => {
    write("package-lock.json", { packages: {} });
    assert.equal(setup.packagesAreCurrent(root), false, "no node_modules");
    const [a1, a2] = [{ "node_modules/a": { version: "1.0.0" } }, { "node_modules/a": { version: "2.0.0" } }];
    assert.equal(packages(a1, a1), true);
    assert.equal(packages(a2, a1), false, "older");
    assert.equal(packages(a1, {}), false, "missing");
    const other = { "node_modules/b": { version: "1.0.0", optional: true } };
    assert.equal(packages({ ...a1, ...other }, a1), true, "not for this platform");
    const old = { ...a1, "node_modules/b": { version: "0.9.0" } };
    assert.equal(packages({ ...a1, ...other }, old), false, "optional and old");
  });

  it("removes compiled files without a source, and nothing else", () => {
    const compiled = ["js", "js.map", "d.ts"].map((end) => `dist/src/a/kept.${end}`);
    const kept = ["src/a/kept.ts", ...compiled, "dist/test/a/data.json"];
    const gone = ["dist/src/a/gone.js", "dist/src/a/gone.js.map", "dist/src/a/gone.d.ts", "dist/test/gone/x.test.js"];
    for (const path of [...kept, ...gone]) write(path, "");
    setup.removeOrphans(root);
    const actual = kept.filter((path) => !existsSync(join(root, path)));
    assert.deepEqual(actual, []);
    const found = gone.filter((path) => existsSync(join(root, path)));
    assert.deepEqual(found, []);
  });
});
