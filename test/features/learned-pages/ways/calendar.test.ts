import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Browser, chromium } from "playwright";
import { findBrowser } from "../../../../src/env/browser/find-browser.js";
import type { Variant } from "../../../../src/features/learned-pages/contract.js";
import type { Place } from "../../../../src/features/learned-pages/way.js";
import { way } from "../../../../src/features/learned-pages/ways/calendar.js";

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

/** A calendar whose heading is empty for a while, then names the new month, and the new year later still. */
const LATE = SLIDING.replace(
  /const name = .*/,
  `const MONTHS = ["November", "December", "January", "February", "March"];
const name = (at) => MONTHS[at] + " " + (at < 2 ? 2026 : 2027);`,
).replace(
  /const by = [\s\S]*?\n};/,
  `const by = (ahead) => () => {
  heading.textContent = "";
  setTimeout(() => { month += ahead; heading.textContent = name(month - ahead).replace(/\\w+/, MONTHS[month]); draw();
    setTimeout(() => { heading.textContent = name(month); }, 80); }, 250);
};`,
);

/** Two months side by side, each with its own arrows for a year and a month; a click on a name ends the calendar. */
const PAIR = `<div id="both" style="display: flex; width: 560px"></div><script>
const months = [24322, 24323], taken = [];
const name = (at) => Math.floor(at / 12) + "-" + String(at % 12 + 1).padStart(2, "0");
const button = (text, title, run) => {
  const one = Object.assign(document.createElement("button"), { textContent: text, title });
  one.onclick = () => { run(); draw(); };
  return one;
};
const draw = () => document.querySelector("#both")?.replaceChildren(...months.map((month, i) => {
  const panel = document.createElement("div"), head = document.createElement("div"), days = document.createElement("div");
  panel.style.width = "280px";
  const by = (text, steps) => button(text, "", () => { months[i] += steps; });
  const label = button(name(month), "", () => document.querySelector("#both").remove());
  head.append(by("\u00ab", -12), by("\u2039", -1), label, by("\u203a", 1), by("\u00bb", 12));
  days.append(...Array.from({ length: 28 }, (_, d) => button(d + 1, "", () => taken.push(name(month) + " " + (d + 1)))));
  panel.append(head, days);
  return panel;
}));
draw();
</script>`;

/** Sets a date on a page that is a calendar. */
async function set(html: string, variant: Variant, value: string): Promise<unknown> {
  const page = await browser.newPage();
  await page.setContent(html);
  const place = {
    page,
    box: page.locator("body"),
    control: page.locator("body"),
    variant,
    limit: { timeout: 2000 },
    has: async () => true,
    click: async () => undefined,
    look: (source: string) => page.evaluate(`(${source})()`),
    pause: (ms = 80) => page.waitForTimeout(ms),
  } as unknown as Place;
  await way.operate(place, value);
  return page.evaluate("taken");
}

test("a calendar that slides is waited for, and confirmed by a button whose text is slotted", async () => {
  assert.equal(await set(SLIDING, { by: "control", confirm: true }, "2027-03-17"), "March 2027 17");
});

test("of two months side by side, either may be moved to the wanted one", async () => {
  // November and December 2026 are shown
  assert.deepEqual(await set(PAIR, { by: "control" }, "2027-01-09"), ["2027-01 9"]);
});

test("a heading is read once it stands, also where its year follows its month", async () => {
  assert.equal(await set(LATE, { by: "control", confirm: true }, "2027-03-17"), "March 2027 17");
});
