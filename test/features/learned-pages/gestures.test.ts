import assert from "node:assert/strict";
import { test } from "node:test";
import { PageWorld } from "../../../src/env/browser/page/world.js";
import { clickButton, placeAt } from "../../../src/features/learned-pages/gestures.js";
import { registerField } from "../../../src/features/learned-pages/place.js";
import { surfaceOf } from "../../../src/features/learned-pages/surface.js";
import { clickLabel, closeOpen, type Place } from "../../../src/features/learned-pages/way.js";
import { testBrowser } from "../../support/page.js";

const browser = await testBrowser();

test("a button whose click the page handles slowly is not clicked again", async () => {
  const page = await browser.newPage();
  await page.setContent(`<button>Send</button><script>let count = 0;
document.querySelector("button").onclick = () => { count++; for (const end = Date.now() + 3000; Date.now() < end; ); };
</script>`);
  await clickButton(page, page.getByRole("button"), 2000);
  assert.equal(await page.evaluate("count"), 1);
});

/** Opens a page and finds the place of a label on it. */
async function placeOn(html: string, label: string): Promise<Place> {
  await registerField();
  const page = await browser.newPage();
  await page.setContent(html);
  const devtools = await page.context().newCDPSession(page);
  const { frameTree } = await devtools.send("Page.getFrameTree");
  const surface = surfaceOf(page, await PageWorld.enter(devtools, frameTree.frame.id), 500);
  return placeAt(surface, label, { locator: `label=${label}`, nth: 0 }, { by: "control" });
}

test("a short list that another field has opened late over a control does not take its click", async () => {
  const place = await placeOn(
    `<p><label>Doctor <input></label></p><p><label>Private <input type="radio"></label></p>
<div id="list" style="position:absolute;top:40px;left:0;width:200px;height:40px;background:#eee">Dr. Stone</div>
<script>let taken = 0; list.onclick = () => taken++; document.onclick = (e) => { if (e.target !== list) list.remove(); };</script>`,
    "Private",
  );
  await place.click(place.control);
  assert.deepEqual(await place.page.evaluate("[taken, document.querySelector('[type=radio]').checked]"), [0, true]);
});

test("a label is clicked where its control is clipped away by a parent of one pixel", async () => {
  const place = await placeOn(
    `<label for="hidden">Allergies</label><div style="position:relative"><div style="position:absolute;width:1px;height:1px;overflow:hidden">
<input id="hidden" readonly style="width:160px;height:20px"></div><div style="height:30px">Select</div></div>
<script>let opened = 0; hidden.onclick = () => opened++;</script>`,
    "Allergies",
  );
  await clickLabel(place, place.control);
  assert.equal(await place.page.evaluate("opened"), 1);
});

test("what a field left open is closed, but not the window that takes Escape for itself, too", async () => {
  const place = await placeOn(
    `<div id="window" role="dialog" style="padding:20px"><h2>Course booking</h2><p><label>First evening <input></label></p>
<ul role="listbox"><li role="option">Porcelain</li></ul></div><div id="list" role="listbox">Monday</div>
<script>let keys = 0; onkeydown = () => { keys++; list.hidden = true; window.document.getElementById("window").hidden = true; };
onclick = () => setTimeout(() => { list.hidden = true; }, 60);</script>`,
    "First evening",
  );
  const seen = (id: string): Promise<boolean> => place.page.locator(`#${id}`).isVisible();
  await closeOpen(place.page, place.box);
  assert.deepEqual([await seen("window"), await seen("list")], [true, false]);
  // the list in the window is a part of it
  await closeOpen(place.page, place.box);
  assert.deepEqual([await seen("window"), await place.page.evaluate("keys")], [true, 0]);
});

test("of a field's controls the drawn one is operated, and not one that is hidden beside it for scripts", async () => {
  const place = await placeOn(
    `<p><b>River</b> <select aria-hidden="true" tabindex="-1" style="position:absolute;width:1px;height:1px"></select>
<span id="drawn" role="combobox" tabindex="0">Find a river</span></p>`,
    "River",
  );
  assert.equal(await place.control.getAttribute("id"), "drawn");
});

test("of a field whose input stands in an option, the suggestion that comes late is picked", async () => {
  const place = await placeOn(
    `<label for="word">Language</label><ul role="listbox"><li role="option"><input id="word"></li></ul><div id="box"></div>
<script>let picked = ""; word.oninput = () => setTimeout(() => { box.innerHTML = '<div role="option">French</div>';
box.onclick = () => { picked = box.textContent; }; }, 150);</script>`,
    "Language",
  );
  await place.control.fill("French");
  await place.pick("French");
  assert.equal(await place.page.evaluate("picked"), "French");
});
