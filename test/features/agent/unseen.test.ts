import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright";
import { packageRoot } from "../../../src/core/files.js";
import { withForm } from "../../../src/features/agent/filling.js";
import { testBrowser } from "../../support/page.js";

const browser = await testBrowser();

type Truth = Readonly<Record<string, string | readonly string[] | { readonly any: readonly string[] } | null>>;
type Sent = Readonly<Record<string, readonly string[]>>;
type UnseenPage = Readonly<Record<"name" | "url" | "text", string> & { truth: Truth }>;
const { unseenPages, wouldSend, judged } = (await import(
  pathToFileURL(join(packageRoot(), "scripts", "lib", "unseen.mjs")).href
)) as {
  unseenPages(dev: boolean): UnseenPage[];
  wouldSend(): Sent;
  judged(truth: Truth, before: Sent, after: Sent): { name: string; right: boolean; asked: boolean }[];
};

/** Fills in what is right by the controls' names, as no agent can. */
async function fillByName(page: Page, truth: Truth): Promise<void> {
  for (const [name, wanted] of Object.entries(truth)) {
    if (wanted === null) continue;
    const values = typeof wanted === "string" ? [wanted] : "any" in wanted ? [wanted.any[0] ?? ""] : wanted;
    const all = page.locator(`[name=${name}]`);
    const type = await all.first().evaluate((element) => (element as HTMLInputElement).type);
    if (type === "select-one") await all.selectOption(values[0] ?? "");
    else if (type !== "radio" && type !== "checkbox") await all.fill(values[0] ?? "");
    else
      for (const box of await all.all()) {
        const { value, checked } = await box.evaluate(({ value, checked }: HTMLInputElement) => ({ value, checked }));
        if (values.includes(value) !== checked) await box.evaluate((e: HTMLInputElement) => e.click());
      }
  }
}

describe("pages that no model was trained on", () => {
  it("can be filled in right, and hold nothing right before; every field is read with a name of its own", async () => {
    const pages = [...unseenPages(false), ...unseenPages(true)];
    assert.equal(pages.length, 15);
    for (const { name, url, truth } of pages) {
      const page = await browser.newPage();
      await page.goto(url);
      const untouched = await page.evaluate(wouldSend);
      const none = judged(truth, untouched, untouched).filter(({ asked, right }) => asked && right);
      // a remark may be left out
      assert.ok(none.length <= 1, `${name}: ${none.map((field) => field.name)}`);
      const read = (await withForm(page, [], async ({ form }) => form.controls)).filter(({ present }) => present);
      assert.deepEqual(read.map((control) => control.name).sort(), Object.keys(truth).sort(), name);
      assert.equal(new Set(read.map(({ label }) => label)).size, read.length, name);
      assert.ok(
        read.every(({ label, name }) => label !== name && label !== ""),
        JSON.stringify(read),
      );
      await fillByName(page, truth);
      const wrong = judged(truth, untouched, await page.evaluate(wouldSend)).filter(({ right }) => !right);
      assert.deepEqual(wrong, [], name);
      await page.close();
    }
  });
});
