import assert from "node:assert/strict";
import { test } from "node:test";
import { BOXES } from "../../../src/features/learned-pages/boxes.js";
import { testBrowser } from "../../support/page.js";

const browser = await testBrowser();

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
