import assert from "node:assert/strict";
import { test } from "node:test";
import { PageWorld } from "../../../src/env/browser/page/world.js";
import type { Kind } from "../../../src/env/forms/values.js";
import type { FieldValue } from "../../../src/env/site.js";
import { setLabels } from "../../../src/features/learned-pages/place.js";
import { enterPlainly } from "../../../src/features/learned-pages/plain.js";
import { surfaceOf } from "../../../src/features/learned-pages/surface.js";
import { testBrowser } from "../../support/page.js";

const browser = await testBrowser();

/** Enters values into a page one after the other. @returns the page, and the ways that entered them. */
async function entered(html: string, values: readonly (readonly [string, Kind, FieldValue])[]) {
  const page = await browser.newPage();
  await page.setContent(html);
  const devtools = await page.context().newCDPSession(page);
  const { frameTree } = await devtools.send("Page.getFrameTree");
  const surface = surfaceOf(page, await PageWorld.enter(devtools, frameTree.frame.id), 1000);
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
