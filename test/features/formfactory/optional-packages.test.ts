import assert from "node:assert/strict";
import { test } from "node:test";
import { cdnAssets } from "../../../src/features/formfactory/sites/formfactory.js";

test("a page's script that is not installed is named with the command that installs it", async () => {
  const absent = cdnAssets(() => {
    throw new Error("Cannot find module");
  });
  await assert.rejects(absent, {
    name: "UserError",
    message: /^FormFactory's pages need the package cleave\.js, which is not installed/,
    hint: /^npm install cleave\.js@1\.6\.0$/,
  });
  assert.equal((await cdnAssets()).size, 3);
});
