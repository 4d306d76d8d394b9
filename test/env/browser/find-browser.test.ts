import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, it } from "node:test";
import { UserError } from "../../../src/core/errors.js";
import { findBrowser } from "../../../src/env/browser/find-browser.js";
import { temporaryFolder } from "../../support/temporary.js";
import { userError } from "../../support/user-error.js";

describe("findBrowser", () => {
  const dir = temporaryFolder("find-browser");
  const file = (...parts: string[]): string => join(dir, ...parts);
  for (const name of ["first", "second", "decoy", "shell"]) mkdirSync(file(name));
  mkdirSync(file("decoy", "chromium"));
  const files = ["first/google-chrome", "second/chromium", "own", "named", "shell/chromium-headless-shell"];
  for (const path of files) writeFileSync(file(path), "");
  const path = (...dirs: string[]): string => dirs.map((name) => file(name)).join(delimiter);
  const found = (env: NodeJS.ProcessEnv, own = "none", more = {}) => findBrowser({ env, own: file(own), ...more });

  it("passes over a folder that cannot be read", () => {
    symlinkSync(file("loop"), file("loop"));
    const PATH = path("loop", "x".repeat(300), "first");
    assert.equal(found({ PATH })?.path, file("first", "google-chrome"));
    const variable = { PATH, REFUSION_BROWSER: file("loop", "chromium") };
    assert.throws(() => found(variable), userError(/which is no file/));
  });

  it("prefers the variable, then Playwright's own, then the PATH in its order", () => {
    const PATH = path("decoy", "first", "second");
    assert.equal(found({ PATH, REFUSION_BROWSER: file("named") }, "own")?.path, file("named"));
    const own = { path: undefined, source: "Playwright's own Chromium" };
    assert.deepEqual(found({ PATH, REFUSION_BROWSER: "" }, "own"), own);
    assert.equal(found({ PATH })?.path, file("first", "google-chrome"));
    assert.equal(found({ PATH: path("decoy", "second") })?.path, file("second", "chromium"));
  });

  it("takes a headless shell before any full browser, but not where a window is wanted", () => {
    const PATH = path("first", "shell");
    assert.equal(found({ PATH })?.path, file("shell", "chromium-headless-shell"));
    assert.equal(found({ PATH }, "none", { headless: false })?.path, file("first", "google-chrome"));
  });

  it("finds nothing where there is nothing", () => {
    assert.equal(found({ PATH: path("decoy") }), undefined);
    assert.equal(findBrowser({ env: {}, own: "" }), undefined);
  });

  it("refuses a variable that names no file", () => {
    assert.throws(() => found({ REFUSION_BROWSER: file("none") }, "own"), UserError);
  });
});
