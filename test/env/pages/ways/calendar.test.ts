import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Browser, chromium } from "playwright";
import { findBrowser } from "../../../../src/env/browser/find-browser.js";
import type { Place } from "../../../../src/env/pages/way.js";
import { way } from "../../../../src/env/pages/ways/calendar.js";

let browser: Browser;
before(async () => {
  const executablePath = findBrowser()?.path;
  browser = await chromium.launch({ chromiumSandbox: false, ...(executablePath ? { executablePath } : {}) });
});
after(() => browser?.close());

/** A calendar that shows no days while it slides, and then for a while those of the new month below the old name. */
const SLIDING = `<div><button id="back">&lt;</button> <b></b> <button id="on">&gt;</button><div id="days"></div>
<custom-button id="done">Done<template shadowrootmode="open"><button><slot></slot></button></template></custom-button></div>
<script>
const days = document.querySelector("#days"), heading = document.querySelector("b");
let month = 0, chosen, taken;
const name = (at) => ["January", "February", "March", "April"][at] + " 2027";
const draw = () => days.replaceChildren(...Array.from({ length: 28 }, (_, i) => {
  const day = Object.assign(document.createElement("button"), { textContent: i + 1, style: "width: 30px" });
  day.onclick = () => { chosen = name(month) + " " + (i + 1); };
  return day;
}));
const by = (ahead) => () => {
  days.replaceChildren();
  setTimeout(() => { month += ahead; draw(); setTimeout(() => { heading.textContent = name(month); }, 150); }, 300);
};
document.querySelector("#back").onclick = by(-1);
document.querySelector("#on").onclick = by(1);
document.querySelector("#done").onclick = () => { taken = chosen; };
heading.textContent = name(0);
draw();
</script>`;

test("a calendar that slides is waited for, and confirmed by a button whose text is slotted", async () => {
  const page = await browser.newPage();
  await page.setContent(SLIDING);
  const place = {
    page,
    box: page.locator("b"),
    control: page.locator("b"),
    variant: "control, confirm",
    limit: { timeout: 2000 },
    has: async () => true,
    click: async () => undefined,
    look: (source: string) => page.evaluate(`(${source})()`),
    pause: (ms = 80) => page.waitForTimeout(ms),
  } as unknown as Place;
  await way.operate(place, "2027-03-17");
  assert.equal(await page.evaluate("taken"), "March 2027 17");
});
