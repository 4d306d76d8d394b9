import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Browser, chromium } from "playwright";
import { findBrowser } from "../../../src/env/browser/find-browser.js";
import { clickButton } from "../../../src/env/pages/hand.js";

let browser: Browser;
before(async () => {
  const executablePath = findBrowser()?.path;
  browser = await chromium.launch({ chromiumSandbox: false, ...(executablePath ? { executablePath } : {}) });
});
after(() => browser?.close());

test("a button whose click the page handles slowly is not clicked again", async () => {
  const page = await browser.newPage();
  await page.setContent(`<button>Send</button><script>let count = 0;
document.querySelector("button").onclick = () => { count++; for (const end = Date.now() + 900; Date.now() < end; ); };
</script>`);
  await clickButton(page, page.getByRole("button"), 500);
  assert.equal(await page.evaluate("count"), 1);
});
