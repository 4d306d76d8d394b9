import assert from "node:assert/strict";
import { test } from "node:test";
import { findBrowser } from "../../../src/env/browser/find-browser.js";
import { playwright } from "../../../src/env/browser/playwright.js";
import { type Grid, readGrids } from "../../../src/features/learned-pages/grids.js";
import type { Place } from "../../../src/features/learned-pages/way.js";

/** Nodes without text, as a framework leaves them. */
const EMPTY = "<!---->".repeat(5);

/** A month whose days bear names and empty nodes, and which begins with hidden days of the month before. */
const month = (name: string, year: number, before: string): string =>
  `<div class="month"><div>${name} <input class="year" value="${year}"></div><div class="days">
  <span style="visibility:hidden" aria-label="${before}">31</span>${Array.from({ length: 28 }, (_, i) => `<span aria-label="${name} ${i + 1}, ${year}" style="display:inline-block;width:30px">${i + 1}${EMPTY}</span>`).join("")}</div></div>`;

/** Shows a page, and reads its calendars. */
async function gridsOf(html: string): Promise<Grid[]> {
  const path = findBrowser({ headless: true })?.path;
  const browser = await playwright().chromium.launch({
    ...(path === undefined ? {} : { executablePath: path }),
    args: ["--no-sandbox"],
  });
  try {
    const page = await browser.newPage();
    await page.setContent(html);
    const look = (source: string): Promise<unknown> => page.evaluate(`(${source})()`);
    return await readGrids({ look } as unknown as Place);
  } finally {
    await browser.close();
  }
}

test("a month side by side with another is not named after the days before it", async () => {
  const grids = await gridsOf(
    `${month("January", 2027, "December 31, 2026")}${month("February", 2027, "January 31, 2027")}<button>back</button> <button>on</button>`,
  );
  assert.equal(grids.length, 2);
  assert.ok(grids[1]?.heading.join(" ").includes("February"));
  assert.ok(grids.every(({ heading }) => !/31/.test(heading.join(" "))));
});

test("months that wait beside the shown one are not read, and a group of arrows is no button", async () => {
  const days = `<div class="days" style="flex:0 0 300px">${Array.from({ length: 28 }, (_, i) => `<button style="width:30px">${i + 1}</button>`).join("")}</div>`;
  const grids = await gridsOf(`<div style="width:300px"><h3>March 2027</h3>
<div class="next-prev"><button>&lt;</button> <button>&gt;</button></div>
<div id="strip" style="display:flex;overflow-x:scroll">${days}${days}${days}</div></div>
<script>document.querySelector("#strip").scrollLeft = 300</script>`);
  assert.equal(grids.length, 1);
  assert.ok((grids[0]?.middle ?? 0) < 300);
  const texts = grids[0]?.buttons.map(({ text }) => text);
  assert.deepEqual(texts, ["<", ">"]);
});
