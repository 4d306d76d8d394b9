import type { Locator, Page } from "playwright";
import type { PlaceOf } from "./contract.js";

const BUTTONS = "button,input[type=submit],input[type=button],input[type=image],[role=button],[type=submit]";
/** Buttons that are looked at, the likeliest first. */
const MOST = 12;

/** Runs IN THE PAGE: the text that a button shows: its own, or what stands in its slots. */
function textOf(button: Element): string {
  const own = (button.textContent ?? "").trim();
  const slotted = [...button.querySelectorAll("slot")].flatMap((slot) => slot.assignedNodes({ flatten: true }));
  return own !== "" ? own : slotted.map((node) => node.textContent ?? "").join(" ");
}

/** A button as a contract names it: by what it is called where that is plain, else by its place among the buttons. */
async function named(page: Page, nth: number): Promise<PlaceOf> {
  const button = page.locator(BUTTONS).nth(nth);
  const text = ((await button.getAttribute("aria-label")) ?? (await button.evaluate(textOf)))
    .replace(/\s+/g, " ")
    .trim();
  const value = text === "" ? ((await button.getAttribute("value")) ?? "") : text;
  const locator = `role=button[name=${JSON.stringify(value)}s]`;
  const same = value === "" || value.length > 60 ? 0 : await page.locator(locator).count();
  return same === 1 ? { locator, nth: 0 } : { locator: BUTTONS, nth };
}

/** The buttons that can be seen, in the order in which they may send the form: submits first, the last on the page first. */
export async function buttonsOf(page: Page): Promise<PlaceOf[]> {
  const all = await page.locator(BUTTONS).all();
  const seen: { readonly nth: number; readonly submits: boolean }[] = [];
  for (const [nth, button] of all.entries()) {
    if (!(await button.isVisible())) continue;
    const type = await button.getAttribute("type");
    const form = await button.evaluate((e) => (e as HTMLButtonElement).form != null || e.closest("form") !== null);
    const plain = (await button.evaluate((e) => e.localName)) === "button" && type === null && form;
    seen.push({ nth, submits: type === "submit" || plain });
  }
  const order = [...seen.filter((b) => b.submits).reverse(), ...seen.filter((b) => !b.submits).reverse()];
  return Promise.all(order.slice(0, MOST).map(({ nth }) => named(page, nth)));
}

/** Tells what a contract's place of a button is on the page. */
export const buttonAt = (page: Page, { locator, nth }: PlaceOf): Locator => page.locator(locator).nth(nth);
