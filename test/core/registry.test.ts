import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { isModulePath, ownFrame } from "../../src/core/own-module.js";
import { loadFolder } from "../../src/core/registry.js";
import { temporaryFolder } from "../support/temporary.js";
import { userError } from "../support/user-error.js";

interface Entry {
  readonly size: number;
}

const dir = temporaryFolder("registry");
mkdirSync(join(dir, "shapes"));
const folder = pathToFileURL(`${join(dir, "shapes")}/`);
writeFileSync(join(dir, "package.json"), '{"type":"module"}');
writeFileSync(join(dir, "shapes", "round.js"), "export const shape = { size: 1 };");
writeFileSync(join(dir, "shapes", "flat.js"), "export const shape = { size: 2 };");
writeFileSync(join(dir, "shapes", "flat.js.map"), "{}");

const load = (named?: string): Promise<Map<string, Entry>> => loadFolder<Entry>(folder, "shape", named);

/** Asserts that the module of this text is refused as a wrong call. */
async function refuses(name: string, text: string | undefined, message: RegExp): Promise<void> {
  const path = join(dir, name);
  if (text !== undefined) writeFileSync(path, text);
  await assert.rejects(load(path), userError(message, { exitCode: 2 }));
}

test("every module of a folder is an entry under its file's name", async () => {
  assert.equal(JSON.stringify([...(await load())]), '[["flat",{"size":2}],["round",{"size":1}]]');
  assert.deepEqual([...(await load("no such key")).keys()], ["flat", "round"]);
  assert.equal((await loadFolder(pathToFileURL(join(dir, "missing/")), "shape")).size, 0);
});

test("a file of the folder without the entry is a mistake of ours", async () => {
  await assert.rejects(loadFolder(folder, "form"), /flat\.js does not export "form"/);
});

test("a path names a module of the user's own, by the same name or by default", async () => {
  const named = join(dir, "named.mjs");
  writeFileSync(named, "export const shape = { size: 3 };");
  assert.deepEqual((await load(named)).get(named), { size: 3 });
  const byDefault = join(dir, "default.mjs");
  writeFileSync(byDefault, "export default { size: 4 };");
  const entries = await load(byDefault);
  assert.deepEqual([entries.get(byDefault), entries.get("round")], [{ size: 4 }, { size: 1 }]);
});

test("a user's module finds this package and what it depends on, wherever it lies; another package is missing as ever", async () => {
  const own = join(dir, "own.mjs");
  const imports = 'import { defineReward } from "refusion-train";\nimport { z } from "zod";\n';
  writeFileSync(own, `${imports}export const shape = { size: typeof defineReward === "function" && z ? 4 : 5 };`);
  assert.deepEqual((await load(own)).get(own), { size: 4 });
  const missing = /lost\.mjs does not load: Cannot find package 'no-such-package' imported from .*lost\.mjs/;
  await refuses("lost.mjs", 'import "no-such-package";\nexport const shape = { size: 6 };', missing);
});

test("a module that is not there, does not load or exports nothing of use is refused by its path", async () => {
  await refuses("absent.mjs", undefined, /no file .*absent\.mjs, which the config names as shape/);
  await refuses("broken.mjs", "export const shape = ;", /broken\.mjs:1 does not load: /);
  await refuses("empty.mjs", "export const form = 1;", /empty\.mjs exports no shape/);
});

test("what has a slash or the ending of a module is a path", () => {
  for (const path of ["./a", "a/b", "a.js", "a.mjs", "C:\\a", "reward.ts"]) assert.ok(isModulePath(path), path);
  for (const key of ["forms", "flow-grpo", "a.b"]) assert.ok(!isModulePath(key), key);
});

test("a user's entry needs what every shipped one has, and says where it is wrong", async () => {
  const missing = /incomplete\.mjs:2: .*\n {2}size: expected a number, is missing \(sise\?\)$/;
  await refuses("incomplete.mjs", "// a shape\nexport const shape = { sise: 3 };", missing);
  await refuses("other.mjs", 'export const shape = { size: "large" };', /size: expected a number, is a string/);
});

test("an error is traced to the line of the user's module that threw it, or called what did", async () => {
  const path = join(dir, "throws.mjs");
  writeFileSync(path, "export const shape = {\n  size: 1,\n  run(call) {\n    call();\n  },\n};");
  const { run } = (await load(path)).get(path) as unknown as { run(call: () => void): void };
  const thrown = (call: () => void): unknown => {
    try {
      run(call);
    } catch (error) {
      return error;
    }
    return undefined;
  };
  assert.equal(ownFrame(thrown(() => JSON.parse("{"))), `${path}:4`);
  assert.equal(ownFrame(new Error("of our own")), undefined);
});
