import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../src/core/errors.js";
import { readSmall, writeDirectory } from "../../src/core/files.js";
import { temporaryFolder } from "../support/temporary.js";

const root = temporaryFolder("files");

test("a directory is there whole or not at all", async () => {
  const path = join(root, "a", "whole");
  const result = await writeDirectory(path, async (aside) => {
    writeFileSync(join(aside, "x"), "1");
    assert.ok(!existsSync(path));
    return 7;
  });
  assert.deepEqual([result, readFileSync(join(path, "x"), "utf8")], [7, "1"]);
  const half = writeDirectory(join(root, "a", "half"), async (aside) => {
    writeFileSync(join(aside, "x"), "1");
    throw new TypeError("no more");
  });
  await assert.rejects(half, new TypeError("no more"));
  assert.deepEqual(readdirSync(join(root, "a")), ["whole"]);
});

test("a place that cannot be written is a user's error that names it", async () => {
  const file = join(root, "file");
  writeFileSync(file, "");
  for (const path of [join(file, "below"), join(file, "far", "below")]) {
    await assert.rejects(
      writeDirectory(path, async () => undefined),
      (error: unknown) => error instanceof UserError && error.message.includes(path) && error.hint !== undefined,
    );
  }
});

test("a file that a person writes is not read where it is a device, or too large", () => {
  const file = join(root, "small");
  writeFileSync(file, "model: m");
  assert.equal(readSmall(file), "model: m");
  assert.throws(() => readSmall(file, 7), /8 bytes; at most 7 are read/);
  assert.throws(() => readSmall("/dev/zero"), /it is no file/);
  assert.throws(() => readSmall(root), /it is no file/);
});
