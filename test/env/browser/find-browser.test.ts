import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { before, describe, it } from "node:test";
import { UserError } from "../../../src/core/errors.js";
import { findBrowser } from "../../../src/env/browser/find-browser.js";
import { temporaryFolder } from "../../support/temporary.js";
import { userError } from "../../support/user-error.js";

describe("findBrowser", () => {
  const dir = temporaryFolder("find-browser");
  const file = (...parts: string[]): string => join(dir, ...parts);
  before(() => {
    for (const name of ["first", "second", "decoy", "shell"]) mkdirSync(file(name));
    mkdirSync(file("decoy", "chromium"));
    for (const path of [
      file("first", "google-chrome"),
      file("second", "chromium"),
      file("own"),
      file("named"),
      file("shell", "chromium-headless-shell"),
    ])
      writeFileSync(path, "");
  });

  const path = (...dirs: string[]): string => dirs.map((name) => file(name)).join(delimiter);

  it("passes over a folder that cannot be read", () => {
    symlinkSync(file("loop"), file("loop"));
    const PATH = path("loop", "x".repeat(300), "first");
    assert.equal(findBrowser({ env: { PATH }, own: file("none") })?.path, file("first", "google-chrome"));
    assert.throws(
      () => findBrowser({ env: { PATH, REFUSION_BROWSER: file("loop", "chromium") }, own: file("none") }),
      userError(/which is no file/),
    );
  });

  it("prefers the variable, then Playwright's own, then the PATH in its order", () => {
    const PATH = path("decoy", "first", "second");
    assert.equal(
      findBrowser({ env: { PATH, REFUSION_BROWSER: file("named") }, own: file("own") })?.path,
      file("named"),
    );
    assert.deepEqual(findBrowser({ env: { PATH, REFUSION_BROWSER: "" }, own: file("own") }), {
      path: undefined,
      source: "Playwright's own Chromium",
    });
    assert.equal(findBrowser({ env: { PATH }, own: file("none") })?.path, file("first", "google-chrome"));
    assert.equal(
      findBrowser({ env: { PATH: path("decoy", "second") }, own: file("none") })?.path,
      file("second", "chromium"),
    );
  });

  it("takes a headless shell before any full browser, but not where a window is wanted", () => {
    const PATH = path("first", "shell");
    assert.equal(findBrowser({ env: { PATH }, own: file("none") })?.path, file("shell", "chromium-headless-shell"));
    const shown = findBrowser({ env: { PATH }, own: file("none"), headless: false });
    assert.equal(shown?.path, file("first", "google-chrome"));
  });

  it("finds nothing where there is nothing", () => {
    assert.equal(findBrowser({ env: { PATH: path("decoy") }, own: file("none") }), undefined);
    assert.equal(findBrowser({ env: {}, own: "" }), undefined);
  });

  it("refuses a variable that names no file", () => {
    assert.throws(() => findBrowser({ env: { REFUSION_BROWSER: file("none") }, own: file("own") }), UserError);
  });
});
