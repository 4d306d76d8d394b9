import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Browser, chromium } from "playwright";
import { findBrowser } from "../../src/env/browser/find-browser.js";
import type { Action } from "../../src/env/forms/plan.js";
import type { FieldValue } from "../../src/env/site.js";
import { carryOut, fieldsOf, withForm } from "../../src/library/filling.js";
import { renderValue } from "../../src/text/prompt.js";
import { wrongLabels } from "./components/judge.js";
import { PAGES, startSuite } from "./components/suite.js";

/** Parts of the ids of the pages that are filled in, as `COMPONENT_PAGES=mui,vue/`; all of them by default. */
const ASKED = (process.env.COMPONENT_PAGES ?? "").split(",");
const CHOSEN = PAGES.filter((page) => ASKED.some((part) => page.id.includes(part)));
/** Share of all fields that has to be right. */
const GOAL = 0.8;

function actionFor(label: string, value: FieldValue): Action {
  if (typeof value === "boolean") return { kind: value ? "check" : "uncheck", label };
  return { kind: "fill", label, value: renderValue(value) };
}

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

describe("pages that nobody has learned, filled in as `agent.fill` does, with the oracle's lines", () => {
  test("most fields arrive, and nothing is sent before its button is pressed", async () => {
    let [fields, right] = [0, 0];
    for (const form of CHOSEN) {
      const page = await browser.newPage();
      const person = form.people[0] as Readonly<Record<string, FieldValue>>;
      const begun = performance.now();
      site.forget(form.id);
      await page.goto(`${site.baseUrl}/${form.id}`);
      await page.waitForTimeout(500);
      const filled = await withForm(page, Object.keys(person), async (open) => {
        const controls = await fieldsOf(open, person, false);
        const actions = Object.entries(person).map(([label, value]) => actionFor(label, value));
        return carryOut(open, controls, actions, person);
      }).catch((error: Error) => error.message);
      assert.deepEqual([form.id, site.received(form.id).length], [form.id, 0]);
      const seconds = Math.round((performance.now() - begun) / 1000);
      const { send = "Submit" } = form;
      const press =
        typeof send === "string" ? page.getByRole("button", { name: send }).click({ timeout: 5000 }) : send(page);
      await press.catch(() => undefined);
      for (let waited = 0; waited < 5000 && site.received(form.id).length === 0; waited += 100)
        await page.waitForTimeout(100);
      const receipt = site.received(form.id).at(-1);
      const wrong = receipt === undefined ? Object.keys(form.wire) : wrongLabels(form, receipt.body, person as never);
      fields += Object.keys(form.wire).length;
      right += Object.keys(form.wire).length - wrong.length;
      const fates =
        typeof filled === "string"
          ? filled
          : filled.records
              .filter(({ fate }) => fate !== "done")
              .map(({ action, fate }) => `${"label" in action ? action.label : ""} ${fate}`)
              .join(", ");
      console.log(
        `FILL ${form.id} ${Object.keys(form.wire).length - wrong.length}/${Object.keys(form.wire).length} ${seconds} s${receipt === undefined ? " not sent" : ""} wrong: ${wrong.join(", ")} | ${fates}`,
      );
      await page.close();
    }
    console.log(`FILL all ${right}/${fields}`);
    assert.ok(right >= GOAL * fields, `${right} of ${fields}`);
  });
});
