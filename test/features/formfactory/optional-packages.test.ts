import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/core/errors.js";
import { cdnAssets } from "../../../src/features/formfactory/sites/formfactory.js";

test("a page's script that is not installed is named with the command that installs it", async () => {
  const absent = cdnAssets(() => {
    throw new Error("Cannot find module");
  });
  await assert.rejects(absent, (error) => {
    assert.ok(error instanceof UserError);
    assert.match(error.message, /^FormFactory's pages need the package cleave\.js, which is not installed/);
    assert.match(error.hint ?? "", /^npm install cleave\.js@1\.6\.0$/);
    return true;
  });
  assert.equal((await cdnAssets()).size, 3);
});
