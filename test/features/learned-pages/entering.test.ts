import assert from "node:assert/strict";
import { test } from "node:test";
import { PageWorld } from "../../../src/env/browser/page/world.js";
import type { Kind } from "../../../src/env/forms/values.js";
import type { FieldValue } from "../../../src/env/site.js";
import { BOXES } from "../../../src/features/learned-pages/boxes.js";
import { evidenceOf, showsValue } from "../../../src/features/learned-pages/evidence.js";
import { clickButton, placeAt } from "../../../src/features/learned-pages/gestures.js";
import type { Shown } from "../../../src/features/learned-pages/place.js";
import { registerField, setLabels } from "../../../src/features/learned-pages/place.js";
import { enterPlainly } from "../../../src/features/learned-pages/plain.js";
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

/** Opens a page as the ways have it. */
async function opened(html: string, actionTimeoutMs: number) {
  const page = await browser.newPage();
  await page.setContent(html);
  const devtools = await page.context().newCDPSession(page);
  const { frameTree } = await devtools.send("Page.getFrameTree");
  return { page, surface: surfaceOf(page, await PageWorld.enter(devtools, frameTree.frame.id), actionTimeoutMs) };
}

/** Opens a page and finds the place of a label on it. */
async function placeOn(html: string, label: string): Promise<Place> {
  await registerField();
  const { surface } = await opened(html, 500);
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

/** Enters values into a page one after the other. @returns the page, and the ways that entered them. */
async function entered(html: string, values: readonly (readonly [string, Kind, FieldValue])[]) {
  const { page, surface } = await opened(html, 1000);
  setLabels(
    page,
    values.map(([label]) => label),
  );
  const ways: (string | undefined)[] = [];
  for (const [label, kind, value] of values) ways.push((await enterPlainly(surface, label, kind, value))?.way);
  return { page, ways };
}

test("native controls are entered by their plain ways", async () => {
  const { page, ways } = await entered(
    `<form id="f"><p><label>Name <input name="n"></label></p><p><label>Size <select name="s"><option>Small<option>Large</select></label></p>
<fieldset><legend>Seat</legend><label><input type="radio" name="t" value="w">Window</label><label><input type="radio" name="t" value="a">Aisle</label></fieldset>
<p><label><input type="checkbox" name="c">Member</label></p><p><label>Day <input name="d" type="date"></label></p></form>`,
    [
      ["Name", "text", "Ann"],
      ["Size", "text", "Large"],
      ["Seat", "text", "Aisle"],
      ["Member", "flag", true],
      ["Day", "date", "2026-07-09"],
    ],
  );
  assert.deepEqual(ways, ["fill", "select", "radio", "toggle", "fill"]);
  const sent = await page.evaluate("new URLSearchParams(new FormData(f)).toString()");
  assert.equal(sent, "n=Ann&s=Large&t=a&c=on&d=2026-07-09");
});

test("what stood in a field is put back where no way enters the value", async () => {
  const { page, ways } = await entered(
    `<form id="f" onsubmit="return false"><p><label>Code <input name="c" value="A1" oninput="this.value = this.value === 'A1' ? 'A1' : 'X'"></label></p>
<p><label>Size <select name="s"><option>Small<option selected>Large</select></label></p>
<fieldset><legend>Seat</legend><label><input type="radio" name="t" value="w" checked>Window</label><label><input type="radio" name="t" value="a">Aisle</label></fieldset></form>`,
    [
      ["Code", "text", "B7"],
      ["Size", "text", "Huge"],
      ["Seat", "text", "Roof"],
    ],
  );
  assert.deepEqual(ways, [undefined, undefined, undefined]);
  assert.equal(await page.evaluate("new URLSearchParams(new FormData(f)).toString()"), "c=A1&s=Large&t=w");
});

test("the row of a table of answers takes the answer of its column, or stays as it was", async () => {
  const row = (name: string, label: string): string =>
    `<tr><th>${label}</th>${["no", "so", "yes"].map((value) => `<td><input type="radio" name="${name}" value="${value}"></td>`).join("")}</tr>`;
  const { page, ways } = await entered(
    `<form id="f" onsubmit="return false"><table><tr><th></th><th>Disagree</th><th>Neutral</th><th>Agree</th></tr>${row("a", "Quick")}${row("b", "Kind")}</table></form>`,
    [
      ["Quick", "text", "Agree"],
      ["Kind", "text", "Never"],
    ],
  );
  assert.deepEqual(ways, ["radio", undefined]);
  assert.equal(await page.evaluate("new URLSearchParams(new FormData(f)).toString()"), "a=yes");
});

test("a shadow box that frames slotted controls gives way to its host", async () => {
  const page = await browser.newPage();
  await page.setContent(`<div><my-combo id="combo">
<template shadowrootmode="open"><div id="container"><slot name="label"></slot>
<my-frame><template shadowrootmode="open"><slot></slot></template><slot name="input"></slot><div style="padding: 9px"></div></my-frame></div></template>
<label slot="label" for="town">Town</label><input slot="input" id="town"></my-combo></div>
<p><label>Street <input></label></p>`);
  const first = `${BOXES}("Town", ["Town", "Street"]).map((box) => box.id)[0]`;
  assert.equal(await page.evaluate(first), "combo");
});

test("the button that sends is no control of the label before it", async () => {
  const page = await browser.newPage();
  await page.setContent(`<form><div><label>Name</label><input></div>
<div id="drawn"><label>Newsletter</label><div class="switch" style="width: 40px; height: 20px"></div></div>
<button type="submit" tabindex="0">Send</button></form>`);
  const first = `${BOXES}("Newsletter", ["Name", "Newsletter"])[0].id`;
  assert.equal(await page.evaluate(first), "drawn");
});

test("a label may go on with the value and the unit of its slider", async () => {
  const page = await browser.newPage();
  await page.setContent(`<form><p id="size"><label>Size: 6 m²</label><input type="range"></p>
<p><label>Sizes <input></label></p></form>`);
  assert.equal(await page.evaluate(`${BOXES}("Size", ["Size", "Sizes"])[0].id`), "size");
});

const shown = (...values: string[]): Shown => {
  return { text: "", values, held: [], on: [], present: true, invalid: false, unset: false };
};
const shows = (kind: Kind, value: string, ...values: string[]): boolean => showsValue(kind, value, shown(...values));

test("a field may show the day before the month or after it, in a date, a range and a moment", () => {
  for (const day of ["04/12/2026", "12/04/2026"]) assert.ok(shows("date", "2026-12-04", day));
  assert.ok(shows("range", "2026-12-04 - 2026-12-07", "04/12/2026", "07/12/2026"));
  assert.ok(shows("range", "2026-12-04 - 2026-12-07", "12/04/2026 - 12/07/2026"));
  assert.ok(!shows("range", "2026-12-04 - 2026-12-07", "04/12/2026"));
  for (const at of ["04/12/2026 9:30 AM", "12/04/2026 09:30"]) assert.ok(shows("moment", "2026-12-04 09:30", at));
  assert.ok(!shows("moment", "2026-12-04 09:30", "04/12/2026 21:30"));
  assert.ok(!shows("moment", "2026-12-04 09:30", ""));
});

test("a value that the page marks as invalid at once is not shown", () => {
  const [before, after] = [shown(""), shown("14:30")];
  assert.equal(evidenceOf("time", "14:30", before, after), "shown");
  assert.equal(evidenceOf("time", "14:30", before, { ...after, invalid: true }), "changed");
  // a field may be invalid because others are empty
  assert.equal(evidenceOf("time", "14:30", { ...before, invalid: true }, { ...after, invalid: true }), "shown");
});
