import type { Locator, Page } from "playwright";
import type { Person } from "./page.js";

/** Reads the fields of a person. */
export const of = (person: Person) => ({
  text: (label: string): string => String(person[label]),
  list: (label: string): readonly string[] => person[label] as readonly string[],
  on: (label: string): boolean => person[label] === true,
  number: (label: string): number => Number(person[label]),
});

/** Writes into the controls that bear these labels. */
export async function write(page: Page, person: Person, ...labels: string[]): Promise<void> {
  for (const label of labels) await page.getByLabel(label, { exact: true }).first().fill(String(person[label]));
}

/** Opens a list and clicks the options that have these names. */
export async function pick(page: Page, control: Locator, ...names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await control.click();
  for (const name of names) await page.getByRole("option", { name, exact: true }).click();
}

/** Clicks where the person's value is on. */
export async function click(person: Person, label: string, control: Locator): Promise<void> {
  if (person[label] === true) await control.click();
}

/** Presses a key that many times. */
export async function press(page: Page, key: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await page.keyboard.press(key);
}

/** Types at the place that has the focus after a click. */
export async function type(page: Page, control: Locator, text: string): Promise<void> {
  await control.click();
  await page.keyboard.type(text, { delay: 20 });
}

/** Types the first letters of a value and clicks the suggestion. */
export async function suggest(page: Page, css: string, text: string, option = "[role=option]"): Promise<void> {
  await type(page, page.locator(css), text.slice(0, 4));
  await page.locator(option).locator("visible=true").filter({ hasText: text }).first().click();
}

/** Splits a range into its days, and tells the day of the month as a calendar shows it. */
export const days = (range: string): readonly string[] => range.split(" - ");
export const dayOf = (iso: string): string => String(Number(iso.slice(8)));

const MONTHS = "January February March April May June July August September October November December".split(" ");

/** Clicks a calendar's arrows until its heading, which reads as `March 2024` or `Mar 2024`, shows the month. */
export async function toMonth(iso: string, heading: () => Promise<string>, back: Locator, on: Locator): Promise<void> {
  const [year = 0, month = 0] = iso.split("-").map(Number);
  for (let i = 0; i < 60; i++) {
    const text = await heading();
    const at = MONTHS.findIndex((name) => text.includes(name.slice(0, 3))) + Number(/\d{4}/.exec(text)?.[0]) * 12;
    const ahead = year * 12 + month - 1 - at;
    if (ahead === 0) return;
    await (ahead < 0 ? back : on).click();
    // a busy page shows the next month late
    for (let look = 0; look < 100 && (await heading()) === text; look++);
  }
  throw new Error(`The calendar does not reach ${iso}`);
}
