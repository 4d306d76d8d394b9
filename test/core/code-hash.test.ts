import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { pathToFileURL } from "node:url";
import { codeHash } from "../../src/core/code-hash.js";
import { temporaryFolder } from "../support/temporary.js";

const dir = temporaryFolder("hash");

it("a module's hash covers what it imports, and nothing that it names otherwise", () => {
  const write = (name: string, text: string): void => writeFileSync(join(dir, name), text);
  const hash = (): string => codeHash(pathToFileURL(join(dir, "a.js")).href);
  mkdirSync(join(dir, "folder"));
  write("folder/c.js", "1");
  write("a.js", 'import { b } from "./b.js";\nexport function kinds() {\n  return new URL("./folder/", b);\n}\n');
  write("b.js", 'export * from "./a.js";');
  const before = hash();
  write("folder/c.js", "2");
  assert.equal(hash(), before);
  write("b.js", 'export * from "./a.js"; // other');
  assert.notEqual(hash(), before);
});
