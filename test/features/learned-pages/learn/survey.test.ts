import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Browser, chromium } from "playwright";
import { findBrowser } from "../../../../src/env/browser/find-browser.js";
import { LearnedField } from "../../../../src/features/learned-pages/learn/candidates.js";
import { survey } from "../../../../src/features/learned-pages/learn/survey.js";
import { waysOf } from "../../../../src/features/learned-pages/operate.js";
import { registerField, setLabels } from "../../../../src/features/learned-pages/place.js";
import type { Surface } from "../../../../src/features/learned-pages/surface.js";

let browser: Browser;
before(async () => {
  await registerField();
  const executablePath = findBrowser()?.path;
  browser = await chromium.launch({ chromiumSandbox: false, ...(executablePath ? { executablePath } : {}) });
});
after(() => browser?.close());

/** Returns a text field after its places were looked at. */
async function surveyed(html: string): Promise<LearnedField> {
  const page = await browser.newPage();
  await page.setContent(html);
  setLabels(page, ["Town"]);
  const run = (source: string, argument: unknown) => page.evaluate(`(${source})(${JSON.stringify(argument)})`);
  const surface = { page, stretched: (ms: number) => ms, view: { run } } as unknown as Surface;
  const ways = await waysOf();
  const field = new LearnedField("Town", "text", ways, ["Bath"], 60_000);
  await survey(surface, field, ways);
  return field;
}

/** Names the way that is tried first. */
const firstWay = async (html: string): Promise<string | undefined> => (await surveyed(html)).current?.operation.way;

const HIDDEN = `<label for="town">Town</label><input id="town" style="opacity: 0">`;

test("an input that its label hides until it is clicked is written into first, not one beside what is operated", async () => {
  assert.equal(await firstWay(`<div>${HIDDEN}</div>`), "fill");
  assert.notEqual(await firstWay(`<div>${HIDDEN}<div tabindex="0" style="padding: 9px"></div></div>`), "fill");
});

test("an input that takes text only with the focus may be typed into; one that never does may not", async () => {
  const isTyped = async (more: string): Promise<boolean> =>
    (await surveyed(`<label for="town">Town</label><input id="town" readonly ${more}>`)).candidates.some(
      ({ operation, fate }) => operation.way === "type-leave" && fate === undefined,
    );
  assert.equal(await isTyped('onfocus="this.readOnly = false" onblur="this.readOnly = true"'), true);
  assert.equal(await isTyped(""), false);
});
