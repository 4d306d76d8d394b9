import assert from "node:assert/strict";
import { test } from "node:test";
import { findBrowser } from "../../../src/env/browser/find-browser.js";
import { playwright } from "../../../src/env/browser/playwright.js";
import { readGrids } from "../../../src/env/pages/grids.js";
import type { Place } from "../../../src/env/pages/way.js";

/** Nodes without text, as a framework leaves them. */
const EMPTY = "<!---->".repeat(5);

/** A month whose days bear names and empty nodes, and which begins with hidden days of the month before. */
const month = (name: string, year: number, before: string): string =>
  `<div class="month"><div>${name} <input class="year" value="${year}"></div><div class="days">
  <span style="visibility:hidden" aria-label="${before}">31</span>${Array.from({ length: 28 }, (_, i) => `<span aria-label="${name} ${i + 1}, ${year}" style="display:inline-block;width:30px">${i + 1}${EMPTY}</span>`).join("")}</div></div>`;

test("a month side by side with another is not named after the days before it", async () => {
  const path = findBrowser({ headless: true })?.path;
  const browser = await playwright().chromium.launch({
    ...(path === undefined ? {} : { executablePath: path }),
    args: ["--no-sandbox"],
  });
  try {
    const page = await browser.newPage();
    await page.setContent(
      `${month("January", 2027, "December 31, 2026")}${month("February", 2027, "January 31, 2027")}<button>back</button> <button>on</button>`,
    );
    const look = (source: string): Promise<unknown> => page.evaluate(`(${source})()`);
    const grids = await readGrids({ look } as unknown as Place);
    assert.equal(grids.length, 2);
    assert.ok(grids[1]?.heading.join(" ").includes("February"));
    assert.ok(grids.every(({ heading }) => !/31/.test(heading.join(" "))));
  } finally {
    await browser.close();
  }
});
