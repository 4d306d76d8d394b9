import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { waysOf } from "../../../src/features/learned-pages/operate.js";
import { temporaryFolder } from "../../support/temporary.js";

const folder = temporaryFolder("own-way");

test("a way of one's own that lacks a member is refused with the member's name", async () => {
  const path = join(folder, "way.mjs");
  writeFileSync(path, "export const way = { serves: ['text'], operates: async () => undefined };\n");
  await assert.rejects(waysOf([path]), /operate: expected a function, is missing \(operates\?\)/);
});
