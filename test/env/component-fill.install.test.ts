import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright";
import { findBrowser } from "../../src/env/browser/find-browser.js";
import type { Action } from "../../src/env/forms/plan.js";
import { kindOfAll } from "../../src/env/pages/values.js";
import type { FieldValue } from "../../src/env/site.js";
import { carryOut, fieldsOf, withForm } from "../../src/library/filling.js";
import { renderValue } from "../../src/text/prompt.js";
import { wrongLabels } from "./components/judge.js";
import type { ComponentPage } from "./components/page.js";
import { PAGES, startSuite } from "./components/suite.js";

/** Parts of page ids that select the pages, such as `COMPONENT_PAGES=mui,vue/`; all pages by default. */
const ASKED = (process.env.COMPONENT_PAGES ?? "").split(",");
const CHOSEN = PAGES.filter((page) => ASKED.some((part) => page.id.includes(part)));
/** Required share of fields with the right value. */
const GOAL = 0.8;

let site: Awaited<ReturnType<typeof startSuite>>;
let browser: Browser;
before(async () => {
  site = await startSuite(CHOSEN.map((page) => page.id));
  const executablePath = findBrowser()?.path;
  browser = await chromium.launch({ chromiumSandbox: false, ...(executablePath ? { executablePath } : {}) });
});
after(async () => {
  await browser?.close();
  await site?.close();
});

function actionFor(label: string, value: FieldValue): Action {
  if (typeof value === "boolean") return { kind: value ? "check" : "uncheck", label };
  return { kind: "fill", label, value: renderValue(value) };
}

/** Fills in a page by plan lines with a person's values. @returns the lines that were not carried out. */
async function fill(page: Page, person: Readonly<Record<string, FieldValue>>): Promise<string> {
  const { records } = await withForm(page, Object.keys(person), async (open) => {
    const controls = await fieldsOf(open, person, false);
    const actions = Object.entries(person).map(([label, value]) => actionFor(label, value));
    return carryOut(open, controls, actions, person);
  });
  const failed = records.filter(({ fate }) => fate !== "done");
  return failed.map(({ action, fate }) => `${"label" in action ? action.label : ""} ${fate}`).join(", ");
}

/** Attaches files and presses the button, as the user does. */
async function send(page: Page, form: ComponentPage, files: readonly FieldValue[]): Promise<void> {
  for (const name of files)
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles({ name: String(name), mimeType: "text/plain", buffer: Buffer.from("a file") });
  const { send: how = "Submit" } = form;
  await (typeof how === "string" ? page.getByRole("button", { name: how }).click({ timeout: 5000 }) : how(page));
}

/** @returns the labels whose values the server did not get, files aside, and the reports about them. */
async function filled(form: ComponentPage): Promise<{ wrong: string[]; of: number; said: string }> {
  const page = await browser.newPage();
  const person = form.people[0] as Readonly<Record<string, FieldValue>>;
  const isFile = (label: string): boolean => kindOfAll([person[label] ?? ""]) === "file";
  const labels = Object.keys(form.wire).filter((label) => !isFile(label));
  const values = Object.fromEntries(Object.entries(person).filter(([label]) => !isFile(label)));
  site.forget(form.id);
  try {
    await page.goto(`${site.baseUrl}/${form.id}`);
    await page.waitForTimeout(500);
    const begun = performance.now();
    const failed = await fill(page, values).catch((error: Error) => error.message);
    const said = `${Math.round((performance.now() - begun) / 1000)} s | ${failed}`;
    assert.deepEqual([form.id, site.received(form.id).length], [form.id, 0]);
    const files = Object.keys(person).filter(isFile);
    await send(
      page,
      form,
      files.map((label) => person[label] as FieldValue),
    ).catch(() => undefined);
    for (let waited = 0; waited < 5000 && site.received(form.id).length === 0; waited += 100)
      await page.waitForTimeout(100);
    const receipt = site.received(form.id).at(-1);
    const wrong = receipt === undefined ? labels : wrongLabels(form, receipt.body, person as never);
    return { wrong: wrong.filter((label) => !isFile(label)), of: labels.length, said };
  } finally {
    await page.close();
  }
}

describe("pages that nobody has learned, filled in as `agent.fill` does, with lines that say the values", () => {
  test("most fields arrive, and nothing is sent before its button is pressed", async () => {
    let [fields, right] = [0, 0];
    for (const form of CHOSEN) {
      const { wrong, of, said } = await filled(form);
      fields += of;
      right += of - wrong.length;
      console.log(`FILL ${form.id} ${of - wrong.length}/${of} ${wrong.join(", ")} (${said})`);
    }
    console.log(`FILL all ${right}/${fields}`);
    assert.ok(right >= GOAL * fields, `${right} of ${fields}`);
  });
});
