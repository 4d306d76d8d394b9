import { chromium } from "playwright";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { findBrowser } from "./dist/src/index.js";
const b = await chromium.launch({ executablePath: findBrowser()?.path });
for (const arg of process.argv.slice(2)) {
  const [name, url] = arg.split("=", 2);
  for (const w of [1280, 390]) {
    const p = await b.newPage({ viewport: { width: w, height: 900 } });
    await p.goto(/^http/.test(url) ? url : pathToFileURL(resolve(url)).href);
    await p.waitForTimeout(1500);
    await p.screenshot({ path: `/tmp/front-shots/${name}-${w}.png`, fullPage: true });
    console.log(name, w, await p.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]));
    await p.close();
  }
}
await b.close();
