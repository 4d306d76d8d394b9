import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { waysOf } from "../../../src/features/learned-pages/operate.js";

const folder = mkdtempSync(join(tmpdir(), "own-way-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("a way of one's own that lacks a member is refused with the member's name", async () => {
  const path = join(folder, "way.mjs");
  writeFileSync(path, "export const way = { serves: ['text'], operates: async () => undefined };\n");
  await assert.rejects(waysOf([path]), /operate: expected a function, is missing \(operates\?\)/);
});
