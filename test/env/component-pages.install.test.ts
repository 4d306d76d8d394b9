import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Browser, chromium } from "playwright";
import { findBrowser } from "../../src/env/browser/find-browser.js";
import { playByHand } from "./components/by-hand.js";
import { PAGES, startSuite } from "./components/suite.js";

/** Parts of page ids that select the pages, such as `COMPONENT_PAGES=mui,vue/`; all pages by default. */
const ASKED = (process.env.COMPONENT_PAGES ?? "").split(",");
const CHOSEN = PAGES.filter((page) => ASKED.some((part) => page.id.includes(part)));

let site: Awaited<ReturnType<typeof startSuite>>;
let browser: Browser;
before(async () => {
  site = await startSuite(CHOSEN.map((page) => page.id));
  const path = findBrowser({ headless: true })?.path;
  browser = await chromium.launch({ ...(path === undefined ? {} : { executablePath: path }), args: ["--no-sandbox"] });
});
after(async () => {
  await browser?.close();
  await site?.close();
});

test("the suite is as wide as it says, and the values of a field differ from person to person", () => {
  assert.ok(PAGES.length >= 60);
  assert.ok(new Set(PAGES.flatMap((page) => page.libraries)).size >= 30);
  for (const page of PAGES) {
    assert.ok(page.people.length >= 3, page.id);
    for (const label of Object.keys(page.wire)) {
      const values = new Set(page.people.map((person) => JSON.stringify(person[label])));
      const few = typeof page.people[0]?.[label] === "boolean" || label === "Newsletter";
      assert.equal(values.size, few ? 2 : page.people.length, `${page.id}: ${label}`);
    }
  }
});

for (const form of CHOSEN)
  test(`${form.id} is filled in by clicks and keys, and not accepted empty`, async () => {
    for (const person of form.people.slice(0, 2)) assert.deepEqual(await playByHand(browser, site, form, person), []);
    if (form.required.length > 0) assert.deepEqual(await playByHand(browser, site, form, undefined), []);
  });
