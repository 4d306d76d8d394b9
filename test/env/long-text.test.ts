import assert from "node:assert/strict";
import { test } from "node:test";
import { findControl } from "../../src/env/browser/controls.js";
import { receivedBy } from "../../src/env/forms/native.js";
import { findOption, normalizeLabel, parseNumber } from "../../src/env/forms/normalize.js";
import { readPosted } from "../../src/env/forms/posted.js";

const OPTIONS = Array.from({ length: 2000 }, (_, i) => ({ text: `Option ${i}:`, value: String(i) }));
const CONTROL = {
  ...({ index: 0, kind: "checkbox-group", label: "Many", name: "m" } as const),
  ...({ required: false, widget: "native", present: true } as const),
};

test("what a page or a policy makes long is compared in linear time", () => {
  const long = 200_000;
  assert.equal(normalizeLabel(`${":*".repeat(long)}x`).length, 2 * long + 1);
  assert.equal(normalizeLabel(`Name ${"* ".repeat(1000)}`), "name");
  assert.equal(parseNumber(`1${" ".repeat(long)}x`), undefined);
  const controls = Array.from({ length: 20 }, (_, index) => ({ ...CONTROL, index, default: [], options: OPTIONS }));
  for (let i = 0; i < 4; i++) assert.equal(findControl(controls, `none ${i}`), "none");
  for (let i = 0; i < 20; i++) assert.equal(findOption(OPTIONS, "(none of them"), undefined);
});

test("a post of far too many or too long values is cut to what a comparison looks at", async () => {
  const type = "application/x-www-form-urlencoded";
  const posted = await readPosted(Buffer.from(Array.from({ length: 100_000 }, (_, i) => `m=${i}`).join("&")), type);
  assert.equal(posted.length, 10_000);
  const [received] = receivedBy([{ ...CONTROL, default: [], options: OPTIONS }], posted, { fields: {} });
  assert.equal((received as string[]).length, 10_000);
  const huge = await readPosted(Buffer.from(`a=${"x".repeat(1 << 20)}`), type);
  assert.equal(huge[0]?.[1].length, 32_768);
});
