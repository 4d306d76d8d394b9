import type { Browser, Page } from "playwright";
import { wrongLabels } from "./judge.js";
import type { ComponentPage, Person } from "./page.js";
import type { Receipt } from "./server.js";

interface Running {
  readonly baseUrl: string;
  received(id: string): readonly Receipt[];
  forget(id: string): boolean;
}

async function send(page: Page, form: ComponentPage): Promise<void> {
  if (typeof form.send === "function") return form.send(page);
  await page.getByRole("button", { name: form.send ?? "Submit", exact: true }).click();
}

/** Plays one person by the page's own clicks and keys; tells what is wrong with what the server received. */
export async function playByHand(
  browser: Browser,
  site: Running,
  form: ComponentPage,
  person: Person | undefined,
): Promise<string[]> {
  site.forget(form.id);
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    await page.goto(`${site.baseUrl}/${form.id}`, { waitUntil: "networkidle" });
    if (person !== undefined) await form.fill(page, person);
    // an empty form mostly sends nothing: a short while shows that
    const answered = page
      .waitForResponse(/\/send/, { timeout: person === undefined ? 400 : 5000 })
      .catch(() => undefined);
    await send(page, form);
    await answered;
    const receipts = site.received(form.id);
    if (person === undefined) return receipts.some((receipt) => receipt.accepted) ? ["an empty form is accepted"] : [];
    const accepted = receipts.filter((receipt) => receipt.accepted);
    if (accepted.length !== 1)
      return [`${accepted.length} forms accepted of ${receipts.length}: ${JSON.stringify(receipts)}`, ...errors];
    const wrong = wrongLabels(form, accepted[0]?.body, person);
    return wrong.map((label) => `${label}: ${JSON.stringify(person[label])} in ${JSON.stringify(accepted[0]?.body)}`);
  } finally {
    await context.close();
  }
}
