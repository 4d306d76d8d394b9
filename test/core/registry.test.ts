import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { UserError } from "../../src/core/errors.js";
import { isModulePath, ownFrame } from "../../src/core/own-module.js";
import { loadFolder } from "../../src/core/registry.js";
import { temporaryFolder } from "../support/temporary.js";

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

const refused =
  (message: RegExp): ((error: unknown) => boolean) =>
  (error) =>
    error instanceof UserError && error.exitCode === 2 && message.test(error.message);

test("every module of a folder is an entry under its file's name", async () => {
  assert.deepEqual(
    [...(await load())],
    [
      ["flat", { size: 2 }],
      ["round", { size: 1 }],
    ],
  );
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
  writeFileSync(
    own,
    'import { defineReward } from "refusion-train";\nimport { z } from "zod";\nexport const shape = { size: typeof defineReward === "function" && z ? 4 : 5 };',
  );
  assert.deepEqual((await load(own)).get(own), { size: 4 });
  const lost = join(dir, "lost.mjs");
  writeFileSync(lost, 'import "no-such-package";\nexport const shape = { size: 6 };');
  await assert.rejects(
    load(lost),
    refused(/lost\.mjs does not load: Cannot find package 'no-such-package' imported from .*lost\.mjs/),
  );
});

test("a module that is not there, does not load or exports nothing of use is refused by its path", async () => {
  await assert.rejects(
    load(join(dir, "absent.mjs")),
    refused(/no file .*absent\.mjs, which the config names as shape/),
  );
  const broken = join(dir, "broken.mjs");
  writeFileSync(broken, "export const shape = ;");
  await assert.rejects(load(broken), refused(/broken\.mjs:1 does not load: /));
  const empty = join(dir, "empty.mjs");
  writeFileSync(empty, "export const form = 1;");
  await assert.rejects(load(empty), refused(/empty\.mjs exports no shape/));
});

test("what has a slash or the ending of a module is a path", () => {
  for (const path of ["./a", "a/b", "a.js", "a.mjs", "C:\\a", "reward.ts"]) assert.ok(isModulePath(path), path);
  for (const key of ["forms", "flow-grpo", "a.b"]) assert.ok(!isModulePath(key), key);
});

test("a user's entry needs what every shipped one has, and says where it is wrong", async () => {
  const path = join(dir, "incomplete.mjs");
  writeFileSync(path, "// a shape\nexport const shape = { sise: 3 };");
  await assert.rejects(
    load(path),
    refused(/incomplete\.mjs:2: .*\n {2}size: expected a number, is missing \(sise\?\)$/),
  );
  writeFileSync(join(dir, "other.mjs"), 'export const shape = { size: "large" };');
  await assert.rejects(load(join(dir, "other.mjs")), refused(/size: expected a number, is a string/));
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
