import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, Locator, Page } from "playwright";
import { writeAtomic } from "../../../src/core/files.js";
import { writeReport } from "../../../src/features/report/report.js";
import { exampleRun, hostileRun, supervisedRun } from "../../support/example-run.js";
import { testBrowser, type WatchedPage, watchPage } from "../../support/page.js";
import { temporaryFolder } from "../../support/temporary.js";

/** A 1 x 1 JPEG. */
const PIXEL = Buffer.from(
  "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=",
  "base64",
);

const browser = await testBrowser();

describe("report.html in a browser", () => {
  const root = temporaryFolder("report-browser");

  async function open(name: string, options: Parameters<Browser["newContext"]>[0] = {}): Promise<WatchedPage> {
    const run = name === "hostile" ? await hostileRun(root, name) : await exampleRun(root, name);
    await writeAtomic(run.screenshot({ step: 20, group: 0, rollout: 0 }), PIXEL);
    const watched = await watchPage(browser, options);
    await watched.page.goto(pathToFileURL(await writeReport(run)).href);
    return watched;
  }
  const shown = (page: Page): Promise<string[]> =>
    page.$$eval(".rollout:not([hidden]) > summary > b", (all) => all.map((b) => b.textContent ?? ""));

  it("asks for nothing, violates nothing, reports no error, and shows its picture", async () => {
    const { page, problems, close } = await open("quiet");
    assert.ok(await page.$eval("img", (image) => (image as HTMLImageElement).naturalWidth > 0));
    assert.deepEqual(problems(), []);
    await close();
  });

  it("breaks no column to a letter a line, and shows what was accepted in no warning colour", async () => {
    for (const width of [1280, 390]) {
      const { page, close } = await open(`columns${width}`, { viewport: { width, height: 900 } });
      const narrowest = await page.$$eval(".rollout", (cards) => {
        const texts: number[] = [];
        for (const card of cards as HTMLDetailsElement[]) card.open = true;
        for (const row of document.querySelectorAll(".columns tr")) {
          const last = row.lastElementChild as HTMLElement;
          last.textContent = `${"a long explanation ".repeat(20)}${"x".repeat(200)}`;
          for (const cell of row.children)
            if ((cell.textContent ?? "").length > 6) texts.push(cell.getBoundingClientRect().width);
        }
        return Math.min(...texts);
      });
      assert.ok(narrowest >= 40, `${narrowest} px at ${width}`);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
      const classes = await page.$$eval(".verdict", (all) => all.map((one) => `${one.textContent} ${one.className}`));
      for (const shown of ["accepted verdict dim", "not accepted verdict bad"])
        assert.ok(classes.includes(shown), `${classes} without ${shown}`);
      await close();
    }
  });

  it("runs no script but its own, whatever the texts are", async () => {
    const { page, problems, close } = await open("hostile");
    await page.$$eval("details", (all) => {
      for (const details of all) details.open = true;
    });
    assert.equal(await page.evaluate(() => "hacked" in window), false);
    // what got into the page anyway would be stopped by its policy
    await page.evaluate(() => {
      document.body.insertAdjacentHTML("beforeend", `<img src="x" onerror="window.hacked=1">`);
    });
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    assert.equal(await page.evaluate(() => "hacked" in window), false);
    assert.ok(problems().length > 0, "and the watcher of this test sees that");
    await close();
  });

  it("shows a supervised run, on a phone too, without anything missing being missed", async () => {
    const run = await supervisedRun(root, "supervised");
    const { page, problems, close } = await watchPage(browser, { viewport: { width: 360, height: 740 } });
    await page.goto(pathToFileURL(await writeReport(run)).href);
    const loss = page.locator("figure.chart", { has: page.getByText("Loss", { exact: true }) });
    await loss.locator(".plot").focus();
    await page.keyboard.press("End");
    assert.match(await valuesOf(loss), /^step 40, loss 0\.\d+$/);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360);
    assert.deepEqual(problems(), []);
    await close();
  });

  it("filters and sorts rollouts", async () => {
    const { page, problems, close } = await open("filters");
    assert.deepEqual((await shown(page)).slice(0, 3), ["0.000", "0.125", "0.125"]);
    await page.selectOption("#sort", "-reward");
    assert.equal((await shown(page)).join(" "), "0.875 0.750 0.625 0.500 0.375 0.250 0.125 0.125 0.000 –");
    await page.selectOption("#verdict", "accepted");
    assert.deepEqual(await shown(page), ["0.750", "0.625", "0.500"]);
    await page.selectOption("#form", "clinic/intake");
    assert.deepEqual(await shown(page), ["0.625"]);
    assert.equal(await page.textContent("#count"), "1 of 10 shown");
    await page.selectOption("#form", "");
    await page.selectOption("#verdict", "");
    await page.fill("#find", "AN OLDER task");
    assert.deepEqual(await shown(page), ["0.125"]);
    await page.fill("#find", "");
    await page.selectOption("#step", "10");
    assert.equal(await page.textContent("#count"), "1 of 10 shown");
    assert.deepEqual(problems(), []);
    await close();
  });

  it("tells round and probability at the pointer and by the keyboard", async () => {
    const { page, close } = await open("heat");
    await page.hover(".heat span:nth-child(2)");
    const probe = (): Promise<string | null> => page.textContent(".probe");
    assert.match((await probe()) ?? "", /^Token 2 of \d+ “.*”: round 2, probability 0\.0498$/);
    await page.focus(".heat");
    await page.keyboard.press("Home");
    assert.match((await probe()) ?? "", /^Token 1 of \d+ “fill”: round 1, probability 0\.99$/);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    assert.match((await probe()) ?? "", /^Token 3 of/);
    const before = await page.$eval(".heat span", (span) => getComputedStyle(span).backgroundColor);
    await page.check("input[value=probability]");
    assert.notEqual(await page.$eval(".heat span", (span) => getComputedStyle(span).backgroundColor), before);
    assert.ok(await page.isVisible(".rollout[open] .by-probability"));
    await close();
  });

  it("reads values off a chart at the pointer and by the keyboard", async () => {
    const { page, close } = await open("charts");
    const chart = page.locator("figure.chart").first();
    assert.match(await valuesOf(chart), /^step 20, rollouts 0\.\d+, heldout 0\.\d+$/);
    await chart.locator(".plot").focus();
    await page.keyboard.press("Home");
    assert.match(await valuesOf(chart), /^step 0, rollouts –, heldout 0\.\d+$/);
    await page.keyboard.press("End");
    assert.match(await valuesOf(chart), /^step 20, rollouts 0\.\d+, heldout 0\.\d+$/);
    const box = await chart.locator(".u-over").boundingBox();
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + 20);
    assert.match(await valuesOf(chart), /^step (9|10|11), rollouts 0/);
    await page.mouse.move(0, 0);
    // the last value of each line, as before anything is pointed at
    assert.match(await valuesOf(chart), /^step 20, rollouts 0\.\d+, heldout 0\.\d+$/);
    await close();
  });

  it("fits a phone, and its text has enough contrast in light and dark", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const viewport = { width: 360, height: 740 };
      const { page, close } = await open(`narrow-${colorScheme}`, { viewport, colorScheme });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 360, `${width} px wide`);
      const ratios = await page.evaluate(contrasts);
      assert.equal(Object.keys(ratios).length, 21);
      for (const [what, ratio] of Object.entries(ratios)) assert.ok(ratio >= 4.5, `${colorScheme} ${what}: ${ratio}`);
      await close();
    }
  });
});

/** What a chart's legend says: each name with its value. */
async function valuesOf(chart: Locator): Promise<string> {
  const rows = await chart
    .locator(".u-series")
    .evaluateAll((all) =>
      all.map((row) => ["th", "td"].map((cell) => row.querySelector(cell)?.textContent?.trim()).join(" ")),
    );
  return rows.join(", ");
}

/** Contrast ratios (WCAG 2.2, 1.4.3) of the texts on their grounds. Runs in the page. */
function contrasts(): Record<string, number> {
  const style = getComputedStyle(document.documentElement);
  const luminance = (name: string): number => {
    const hex = style.getPropertyValue(name).trim().slice(1);
    const full = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
    const [r, g, b] = [0, 2, 4].map((i) => {
      const c = Number.parseInt(full.slice(i, i + 2), 16) / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * (r as number) + 0.7152 * (g as number) + 0.0722 * (b as number);
  };
  const pairs: [string, string][] = [
    ["--dim", "--card"],
    ["--fg", "--card"],
    ["--good", "--card"],
    ["--bad", "--card"],
    ["--dim", "--bg"],
    ...Array.from({ length: 8 }, (_, i): [string, string] => ["--fg", `--o${i}`]),
    ...Array.from({ length: 8 }, (_, i): [string, string] => ["--fg", `--p${i}`]),
  ];
  return Object.fromEntries(
    pairs.map(([text, ground]) => {
      const [a, b] = [luminance(text), luminance(ground)].sort((x, y) => y - x) as [number, number];
      return [`${text} on ${ground}`, (a + 0.05) / (b + 0.05)];
    }),
  );
}
